// The log for a process that gives numbers. Numbers are promised in the private store before any of them is given, and a
// clean stop takes back what was not given: so a mark above the log says that its end may have been lost.
import type { Redis } from 'ioredis'
import type { ObjectStore } from '#storage/object-store.ts'
import { aboveHighWater, createHighWater, readHighWater, readLogEnd } from '../delivery/high-water.ts'
import { assertDurable } from '../redis/boot-checks.ts'
import { askRedis } from '../redis/connect.ts'
import { EPOCH, HEAD, LOG, RELAY_CURSOR, RUN_FUNCTION } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import { guardLog, knownLog, type NumberSource, readGuardedHead, successorOf } from './guard.ts'

export type LogOptions = {
  readonly privateStore: ObjectStore
  readonly newEpoch: () => string
  readonly now: () => number
  /** Whether numbers are given by a Redis that may lose what it acknowledges. */
  readonly allowsUnsafeRedis: boolean
}

/**
 * Guards the log (`guardLog`) for a process that gives numbers. If Redis is another process than the one that gave the
 * last numbers, and the log ends below the mark, more numbers may have been given than are there: the log continues above
 * all of them, under a new epoch. A process that outlives its Redis knows what it gave, so it continues at once, unless
 * this Redis was a replica, which may lack what others gave.
 */
export async function openLog(redis: Redis, options: LogOptions) {
  const { privateStore, newEpoch, allowsUnsafeRedis } = options
  const highWater = createHighWater(privateStore)
  let promising: Promise<void> | null = null
  const source: NumberSource = {
    promise(seq) {
      promising ??= promise(redis, options, seq).finally(() => {
        promising = null
      })
      return promising // for all commits that wait for one: each tries again
    },
    assertDurable: async () => {
      if (!allowsUnsafeRedis) await assertDurable(redis)
    },
  }
  await guardLog(redis, await readHighWater(privateStore), newEpoch, await readLogEnd(privateStore), source)
  if ((await readRun(redis)) !== 'same') await continueAbove(redis, options)
  return {
    /** Confirms after a restart of Redis that nothing which this process knows of is lost. */
    async confirm(): Promise<void> {
      if ((await readRun(redis)) !== 'same') await source.promise(0)
    },
    /** Takes back what was promised and not given. Nothing may be committed over this connection from now on. */
    async close(): Promise<void> {
      const { epoch, seq: least } = knownLog(redis)! // guarded above
      const reply = await runScript(redis, CLOSE_SCRIPT, [HEAD, EPOCH], epoch, least)
      const [seq, promised] = (reply as string[]).map(Number)
      if (seq === undefined || promised === undefined) return
      if ((await readHighWater(privateStore)) > promised) return // of another log, or another process promises
      await highWater.close(seq)
      const again = Number(await askRedis(() => redis.hget(HEAD, 'promised')))
      if (again > seq) await highWater.cover(again, seq) // another process has promised meanwhile
    },
  }
}

async function promise(redis: Redis, options: LogOptions, seq: number): Promise<void> {
  if ((await readRun(redis)) === 'promoted') await continueAbove(redis, options)
  const highWater = createHighWater(options.privateStore)
  for (;;) {
    const { epoch, seq: newest } = await readGuardedHead(redis)
    const promised = await highWater.cover(Math.max(seq, newest), newest)
    await runScript(redis, PROMISE_SCRIPT, [HEAD, EPOCH], epoch ?? '', promised)
    if ((await readHighWater(options.privateStore)) >= promised) return // else a process that stops set it back
  }
}

/** Whether this Redis is the process that numbers were promised for, another one, or a replica that was promoted. */
const readRun = (redis: Redis): Promise<unknown> => runScript(redis, RUN_SCRIPT, [HEAD])

const RUN_SCRIPT = `${RUN_FUNCTION}
local run, was_replica = run_of_redis()
if redis.call('HGET', KEYS[1], 'run') == run then return 'same' end
return was_replica and 'promoted' or 'another'
`

/** Continues above the mark if the log ends below it; does nothing if another process did, or gives numbers meanwhile. */
async function continueAbove(redis: Redis, { privateStore, newEpoch, now }: LogOptions): Promise<void> {
  const { epoch, seq } = await readGuardedHead(redis)
  const mark = await readHighWater(privateStore)
  if (epoch === null || seq >= mark) return
  const next = newEpoch()
  const args = [epoch, seq, aboveHighWater(mark), next, successorOf(epoch, next), now()]
  await runScript(redis, CONTINUE_SCRIPT, [HEAD, EPOCH, LOG, RELAY_CURSOR], ...args)
  await readGuardedHead(redis)
}

/** Moves the cursor of the relay too, if it has passed everything: no signal waits for it. */
const CONTINUE_SCRIPT = `${RUN_FUNCTION}
local head, epoch, log, cursor = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local seq, above = redis.call('HGET', head, 'seq') or '0', ARGV[3]
local run = run_of_redis()
if redis.call('GET', epoch) ~= ARGV[1] or seq ~= ARGV[2] or redis.call('HGET', head, 'run') == run then return 0 end
local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
local written = newest and tonumber(string.match(newest[1], '^(%d+)')) or 0
if tonumber(redis.call('GET', cursor) or '0') >= written then redis.call('SET', cursor, above) end
redis.call('HSET', head, 'seq', above, 'promised', above, 'run', run, 'successor', ARGV[5])
redis.call('HSET', head, 'continued', table.concat({seq, above, ARGV[6]}, ' '))
redis.call('SET', epoch, ARGV[4])
return 1
`

const PROMISE_SCRIPT = `${RUN_FUNCTION}
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local run = run_of_redis()
redis.call('HSET', KEYS[1], 'run', run, 'promised', ARGV[2])
return 1
`

/** Returns the last number and the one that was promised, or nothing if this process cannot say that both are right. */
const CLOSE_SCRIPT = `${RUN_FUNCTION}
local seq, run, promised = unpack(redis.call('HMGET', KEYS[1], 'seq', 'run', 'promised'))
local is_ours = redis.call('GET', KEYS[2]) == ARGV[1] and run == run_of_redis()
if not is_ours or tonumber(seq or '0') < tonumber(ARGV[2]) then return {} end
redis.call('HSET', KEYS[1], 'promised', seq or '0')
return {seq or '0', promised}
`
