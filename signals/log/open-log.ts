// The log for a process that gives numbers. Numbers are promised in the private store before any of them is given, and a
// clean stop takes back what was not given: so a mark above the log says that its end may have been lost.
import type { Redis } from 'ioredis'
import type { ObjectStore } from '#storage/object-store.ts'
import { assertDurable } from '../redis/boot-checks.ts'
import { EPOCH, HEAD, LOG, RELAY_CURSOR, RUN_FUNCTION } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import { guardLog, knownLog, type NumberSource, noteSeq, readGuardedHead, successorOf } from './guard.ts'
import {
  aboveHighWater,
  createHighWater,
  readHighWater,
  readLogEnd,
  readPromise,
  SEVERAL,
} from './high-water.ts'

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
 * all of them, under a new epoch. A process that outlives its Redis and gave numbers alone knows what it gave, so it
 * continues at once, unless this Redis was a replica.
 */
export async function openLog(redis: Redis, options: LogOptions) {
  const { privateStore, newEpoch, allowsUnsafeRedis } = options
  const highWater = createHighWater(privateStore)
  const giver: Giver = { name: newEpoch(), hasGiven: false, isSole: false }
  let promising: Promise<void> | null = null
  const source: NumberSource = {
    name: giver.name,
    promise(seq) {
      promising ??= promise(redis, options, giver, seq).finally(() => {
        promising = null
      })
      return promising // for all commits that wait for one: each tries again
    },
    assertPromises: () => highWater.tryWriting(),
    assertDurable: async () => {
      if (!allowsUnsafeRedis) await assertDurable(redis)
    },
  }
  await guardLog(redis, await readHighWater(privateStore), newEpoch, await readLogEnd(privateStore), source)
  if ((await readRun(redis)).kind !== 'same') await continueAbove(redis, options)
  return {
    /** Confirms after a restart of Redis that nothing which this process knows of is lost. */
    async confirm(): Promise<void> {
      if ((await readRun(redis)).kind !== 'same') await source.promise(0)
    },
    /** Takes back what was promised and not given. Nothing may be committed over this connection from now on. */
    async close(): Promise<void> {
      const { epoch, seq: least } = knownLog(redis)! // guarded above
      const mark = await readPromise(privateStore) // before: what is promised after the script is another write
      const reply = await runScript(redis, CLOSE_SCRIPT, [HEAD, EPOCH], epoch, least)
      const [seq, promised] = (reply as string[]).map(Number)
      if (seq === undefined || promised === undefined || mark.id === undefined) return
      if (mark.seq <= promised) await highWater.close(seq, mark.id) // else it is of another log, or another process promises
    },
  }
}

/** A process that gives numbers. `isSole`: no other one has given any since it promised, unless the mark names another. */
type Giver = { readonly name: string; hasGiven: boolean; isSole: boolean }

/**
 * Promises numbers in the private store, then in Redis, unless another process promised or closed between. A process
 * that has not given any takes over alone, and one that must promise again because of that shares from then on.
 */
async function promise(redis: Redis, options: LogOptions, giver: Giver, seq: number): Promise<void> {
  const { privateStore, newEpoch } = options
  for (;;) {
    const { kind, version } = await readRun(redis)
    const mark = await readPromise(privateStore)
    const isSole = giver.isSole && mark.giver === giver.name
    if (kind === 'promoted' || (kind === 'another' && !isSole)) await continueAbove(redis, options)
    const { epoch, seq: newest } = await readGuardedHead(redis)
    const name = isSole || mark.isClosed || !giver.hasGiven ? giver.name : SEVERAL
    giver.isSole = false // until Redis has it: another process may write the mark at the same time
    const least = Math.max(seq, newest)
    const promised = await createHighWater(privateStore).promise(least, newest, name, newEpoch())
    const args = [epoch ?? '', promised, name, version]
    const given = await runScript(redis, PROMISE_SCRIPT, [HEAD, EPOCH], ...args)
    if (given === null) continue
    noteSeq(redis, Number(given))
    Object.assign(giver, { hasGiven: true, isSole: name === giver.name })
    if ((await readPromise(privateStore)).seq >= promised) return // else another process wrote a lower one over it
  }
}

/** Whether this Redis is the process that numbers were promised for, another one, or a replica that was promoted. */
async function readRun(redis: Redis) {
  const [kind, version] = (await runScript(redis, RUN_SCRIPT, [HEAD])) as string[]
  return { kind, version: version ?? '' }
}

const RUN_SCRIPT = `${RUN_FUNCTION}
local run, was_replica = run_of_redis()
local version = run .. (redis.call('HGET', KEYS[1], 'promises') or '')
if redis.call('HGET', KEYS[1], 'run') == run then return {'same', version} end
return {was_replica and 'promoted' or 'another', version}
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
redis.call('HSET', head, 'seq', above, 'promised', above, 'giver', '', 'run', run, 'successor', ARGV[5])
redis.call('HSET', head, 'continued', table.concat({seq, above, ARGV[6]}, ' '))
redis.call('SET', epoch, ARGV[4])
return 1
`

/** Returns the last number, or nothing if the epoch or the count of promises is another one. */
const PROMISE_SCRIPT = `${RUN_FUNCTION}
local run = run_of_redis()
local version = run .. (redis.call('HGET', KEYS[1], 'promises') or '')
if redis.call('GET', KEYS[2]) ~= ARGV[1] or version ~= ARGV[4] then return false end
redis.call('HSET', KEYS[1], 'run', run, 'promised', ARGV[2], 'giver', ARGV[3])
redis.call('HINCRBY', KEYS[1], 'promises', 1)
return redis.call('HGET', KEYS[1], 'seq') or '0'
`

/** Returns the last number and the one that was promised, or nothing if this process cannot say that both are right. */
const CLOSE_SCRIPT = `${RUN_FUNCTION}
local seq, run, promised = unpack(redis.call('HMGET', KEYS[1], 'seq', 'run', 'promised'))
local is_ours = redis.call('GET', KEYS[2]) == ARGV[1] and run == run_of_redis()
if not is_ours or tonumber(seq or '0') < tonumber(ARGV[2]) then return {} end
redis.call('HSET', KEYS[1], 'promised', seq or '0')
redis.call('HINCRBY', KEYS[1], 'promises', 1)
return {seq or '0', promised}
`
