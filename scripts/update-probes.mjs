import { handOver } from './setup.mjs'

await handOver('golden-files.mjs')
