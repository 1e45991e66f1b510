import { handOver } from './setup.mjs'

await handOver('print-package.mjs')
