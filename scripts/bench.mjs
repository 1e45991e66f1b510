import { handOver } from './setup.mjs'

await handOver('../bench/run.mjs')
