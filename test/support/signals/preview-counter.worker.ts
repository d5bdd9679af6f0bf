// A process that takes the allowance of one address a given number of times at once, and prints how many it got.

import { createPreviewLimits } from '#signals/program/preview-limits.ts'
import { connectRedis } from '#signals/redis/connect.ts'

const [redisUrl = '', address = '', times = '0'] = process.argv.slice(2)
const redis = connectRedis(redisUrl, () => {})
await redis.connect()
const fail = (error: unknown): never => {
  throw error
}
const take = createPreviewLimits(redis, () => performance.now(), fail)
console.log('ready')
process.stdin.once('data', async () => {
  const asked = Array.from({ length: Number(times) }, () => take('preview', address))
  console.log(`within ${(await Promise.all(asked)).filter(({ isWithin }) => isWithin).length}`)
  redis.disconnect()
  process.exit(0)
})
