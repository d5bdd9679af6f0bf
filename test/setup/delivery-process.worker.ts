// A process that delivers until it is killed, or told to end: REDIS_URL and the folder of the private store are its
// arguments. Prints "ready", and what it cannot do.
import { startTestDelivery } from './delivery.ts'

const [, , redisUrl = ''] = process.argv
const delivery = await startTestDelivery(redisUrl, { pace: { flightMs: 400, overdueAfterMs: 100 } })
process.once('SIGTERM', () => void delivery.stop().then(() => process.exit(0)))
console.log('ready')
