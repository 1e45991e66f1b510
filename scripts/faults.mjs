import { handOver } from './setup.mjs'

await handOver('fault-table.mjs')
