import { handOver } from './setup.mjs'

await handOver('take-pictures.mjs')
