// A process with the operator's interface, as the service starts it: a Redis that keeps what it says, and a log that is
// guarded. Prints "ready" and where it listens; runs until it is killed.
import { flushCompileCache } from 'node:module'
import { listenOperator } from '#api/operator/app.ts'
import { guardLog } from '#signals/log/guard.ts'
import { readHighWater } from '#signals/log/high-water.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { createFileStore } from '#storage/file-store.ts'
import { parseOrder } from '../history/process-order.ts'
import { ALIASES } from '../kills/kill-plan.ts'
import { operatorParts } from './operator.ts'

const { redisUrl, privateFolder } = parseOrder(process.argv[2])
const redis = connectRedis(redisUrl, () => {})
await redis.connect()
await assertDurable(redis)
await guardLog(redis, await readHighWater(createFileStore(privateFolder)), () => crypto.randomUUID())
const parts = operatorParts(redis, {
  clock: { now: () => Date.now(), elapsed: () => performance.now() },
  aliases: () => new Set(ALIASES),
  onError: () => {}, // what it answers is held against what it should
})
const { url } = await listenOperator(parts, '127.0.0.1', 0)
console.log(`ready ${url}`)
flushCompileCache()
