import { handOver } from './setup.mjs'

await handOver('checks.mjs')
