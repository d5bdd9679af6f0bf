// A process that delivers until it is killed: its argument says where and at which pace. Prints "ready".
import { flushCompileCache } from 'node:module'
import { parseOrder } from '../history/process-order.ts'
import { startTestDelivery } from './delivery.ts'

const { redisUrl, pace } = parseOrder(process.argv[2])
await startTestDelivery(redisUrl, { pace })
console.log('ready')
flushCompileCache()
