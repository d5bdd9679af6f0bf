// An append-only file that lost its end, as a disk leaves it that acknowledged more than it kept: what was written before
// is there, what is missing is noticed by the service that saw it, and no number is given a second time.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { problemOfFailure } from '#signals/alerts.ts'
import { guardLog, LogGoneError } from '#signals/log/guard.ts'
import { readAfter, readHead } from '#signals/log/read-log.ts'
import { HEAD } from '#signals/redis/keys.ts'
import type { TestRedis } from '../../support/servers/redis.ts'
import { ownRedis } from '../../support/servers/use-redis.ts'
import { until } from '../../support/signals/delivery.ts'
import { fire } from '../../support/signals/signals.ts'

const COUNT = 12

let server: TestRedis
/** The connection of a service that outlives every one of these crashes. */
let redis: Redis
let file: string
let whole: Buffer
/** How long the file was when each signal was acknowledged; first, before all of them. */
const ends: number[] = []

const newEpoch = () => 'epoch-1'

beforeAll(async () => {
  server = await ownRedis()
  redis = await server.connect()
  await guardLog(redis, 0, newEpoch)
  const folder = join(server.folder, 'appendonlydir')
  const name = (await readdir(folder)).find(one => one.endsWith('.incr.aof'))
  file = join(folder, name!) // this Redis is durable as the product demands: it has one
  ends.push((await stat(file)).size)
  for (let seq = 1; seq <= COUNT; seq++) {
    await fire(redis, `s${seq}`, 'alder')
    ends.push((await stat(file)).size)
  }
  whole = await readFile(file)
})

/** Ends Redis as a crash does, and starts it again on so many bytes of its file. */
async function tear(length: number): Promise<void> {
  await server.kill()
  await until(() => redis.status !== 'ready')
  await writeFile(file, whole.subarray(0, length))
  await server.restart()
  await until(() => redis.status === 'ready')
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

const seqsOf = async (): Promise<number[]> => (await readAfter(redis, 0, 100)).map(({ seq }) => seq)

/** Where it is cut, and how many signals are whole before that. */
const CUTS = [
  ['at its last byte', () => ends[COUNT]! - 1, COUNT - 1],
  ['between two signals', () => ends[7]!, 7],
  ['in the middle of a signal', () => Math.floor((ends[4]! + ends[5]!) / 2), 4],
  ['after the first byte of a signal', () => ends[3]! + 1, 3],
  ['in the first signal', () => ends[1]! - 1, 0],
] as const

test.each(CUTS)(
  'a file that was cut %s holds every signal before, whole and without a hole, and its end is missed',
  async (_, at, kept) => {
    await tear(at())
    expect(await seqsOf()).toEqual(numbers(kept))
    expect(Number((await redis.hget(HEAD, 'seq')) ?? 0)).toBe(kept)
    await expect(fire(redis, 'next', 'alder')).rejects.toThrow(LogGoneError)
    await expect(fire(redis, `s${COUNT}`, 'alder')).rejects.toThrow(LogGoneError) // it was fired, and is not fired again
    const error = await readHead(redis).catch((reason: unknown) => reason)
    expect(problemOfFailure(error)).toEqual({
      kind: 'redis_wiped',
      subject: 'log',
      message: expect.stringContaining(
        `${kept === 0 ? 'no signal, as after FLUSHALL' : `signals up to ${kept}`}, but numbers up to ${COUNT} may have been delivered`,
      ),
    })
    expect(await seqsOf()).toEqual(numbers(kept))
  },
)
