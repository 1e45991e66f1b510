import { handOver } from './setup.mjs'

await handOver('console.mjs')
