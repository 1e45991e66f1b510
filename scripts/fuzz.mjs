import { handOver } from './setup.mjs'

await handOver('any-frames.mjs')
