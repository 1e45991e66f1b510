import { handOver } from './setup.mjs'

await handOver('soak-table.mjs')
