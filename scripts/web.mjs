import { handOver } from './setup.mjs'

await handOver('web-host.mjs')
