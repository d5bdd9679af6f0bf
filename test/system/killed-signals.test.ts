// Everything between a bar and a subscriber is killed at random instants: every acknowledged signal is in the log, and every
// client gets everything that is theirs, and nothing that was never fired.
import { appendFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import { HEAD } from '#signals/redis/keys.ts'
import { run } from '../cli/made-up.ts'
import { logged } from '../signals/live/live-kit.ts'
import { sharedRedis } from '../support/servers/use-redis.ts'
import { until } from '../support/signals/delivery.ts'
import {
  cursorOf,
  expectAll,
  type LiveBook,
  type LiveRedis,
  liveBook,
  liveCommand,
  openKilledRunners,
} from '../support/signals/live-kills.ts'
import type { Received } from '../support/signals/receiver.ts'
import { openKillGround } from '../support/signals/signals-kills.ts'
import { type History, violationsIn } from '../support/signals/signals-soundness.ts'

/** `make soak` plays others. */
const SEEDS = [1, 2]

test('no acknowledged signal is lost, and every client gets exactly its own, if fires, deliveries and Redis are killed', async () => {
  const { play } = await openKillGround()
  for (const seed of SEEDS) expect(await play(seed), `seed ${seed}`).toBeGreaterThan(0)
})

test('a live runner that is killed at random and started again fires everything once', async () => {
  const play = await openKilledRunners()
  for (const seed of SEEDS) expect(await play(seed)).toBeGreaterThan(0)
})

/** A live runner in this process, until it is stopped. */
function startHere(server: LiveRedis, own: LiveBook, ...more: readonly string[]) {
  const { args, env } = liveCommand(server, own)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const ended = run([...args, ...more], { env, now: Date.now, untilStopped: () => stopped })
  return { stop, ended }
}

/** An empty Redis, a book with ten bars to come, and whether its runner follows. */
async function liveScene(seed: number) {
  const { url, connect } = await sharedRedis()
  const redis = await connect()
  await redis.flushall()
  const [server, own] = [{ url, redis }, await liveBook(seed, 10)]
  return { server, own, follows: () => until(async () => (await cursorOf(server, own)) > 0) }
}

async function untilNextSecond(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1_000)
  const now = second()
  await until(() => second() > now)
}

test('a live runner that is started a second time names the process that holds the lease, and fires nothing', async () => {
  const { server, own, follows } = await liveScene(99)
  const first = startHere(server, own)
  await follows()
  // A lease knows its holder by process and second of the start, and both runners are of this process.
  await untilNextSecond()
  const second = await startHere(server, own).ended
  expect(second.code).toBe(1)
  expect(second.err).toContain(`another runner follows M99/4h: process ${process.pid}`)
  for (const line of own.lines) await appendFile(own.feed, `${line}\n`)
  await until(async () => (await cursorOf(server, own)) === own.endMs)
  first.stop()
  expect(await first.ended).toMatchObject({ code: 0 })
  await expectAll(server, own)
})

test('a live runner ends with a sentence and exit code 1 at an invalid line of its feed, after it fired what came before', async () => {
  const { server, own, follows } = await liveScene(98)
  const runner = startHere(server, own, '--json')
  await follows()
  await appendFile(own.feed, `${own.lines.join('\n')}\nrubbish\n`)
  const { code, err, out } = await runner.ended
  expect(code).toBe(1)
  expect(err).toContain('line 12: expected 6 fields')
  expect(JSON.parse(out.split('\n')[0]!)).toMatchObject({ message: expect.stringContaining('follow') })
  await expectAll(server, own)
  expect(Number(await server.redis.hget(HEAD, 'seq'))).toBe((await logged(server.redis)).length)
})

const signalOf = (seq: number, id: string, alias: string): LoggedSignal => ({
  ...{ seq, alias, onlyFor: null, atMs: 0 },
  body: JSON.stringify({ signal_id: id, seq, alias }),
})
const a = signalOf(1, 'a', 'alder')
const b = signalOf(2, 'b', 'birch')
const c = signalOf(3, 'c', 'alder')
const arrival = (client: string, prevSeq: number, { seq, body }: LoggedSignal): Received => ({
  ...{ client, seq, prevSeq, body, headers: {} },
})
const sound: History = {
  fired: new Map([
    ['a', { alias: 'alder', seqs: [1] }],
    ['b', { alias: 'birch', seqs: [2, 2] }],
    ['c', { alias: 'alder', seqs: [3] }],
    ['lost', { alias: 'alder', seqs: [] }],
  ]),
  log: [a, b, c],
  settledSeq: 3,
  received: [
    ...[arrival('north', 0, a), arrival('north', 1, c), arrival('north', 1, c)],
    ...[arrival('east', 0, a), arrival('east', 1, b), arrival('east', 2, c)],
  ],
  entitled: { north: ['alder'], east: ['alder', 'birch'], none: [] },
}
const got = (...one: Parameters<typeof arrival>) => ({ received: [arrival(...one)] })
const without = (index: number): Received[] => sound.received.filter((_, i) => i !== index)
const acknowledged = (id: string, seqs: number[]) => new Map([...sound.fired, [id, { alias: 'alder', seqs }]])

test.each<[string, Partial<History>, string]>([
  ['lost what it acknowledged', { fired: acknowledged('lost', [4]) }, 'lost was acknowledged as 4'],
  ['gave two numbers for one id', { fired: acknowledged('a', [1, 2]) }, 'a was acknowledged as 2, and is 1'],
  ['has an id twice', { log: [a, b, signalOf(3, 'a', 'alder')] }, 'a is signal 1 and signal 3'],
  ['has a hole in its numbers', { log: [a, b, { ...c, seq: 4 }] }, 'signal 4 stands at place 3'],
  ['logged a signal that was never fired', { fired: new Map() }, 'nobody fired a'],
  ['never delivered', { received: without(4) }, 'east never got 2'],
  ['delivered to a client that is not entitled to it', got('north', 1, b), 'north got 2, which it may not'],
  ['delivered to a client without entitlements', got('none', 0, a), 'none got 1, which it may not'],
  ['delivered to a stranger', got('else', 0, a), 'else is no client'],
  ['invented a signal', got('north', 3, { ...c, seq: 4 }), 'north got 4, which it may not'],
  ['named another predecessor', got('north', 2, c), 'north got 3 after 2, not 1'],
  ['sent other bytes', got('north', 0, { ...a, body: '{}' }), 'north got other bytes of 1'],
])('a history of signals is found unsound if it %s', (_, change, violation) => {
  expect(violationsIn(sound)).toEqual([])
  expect(violationsIn({ ...sound, ...change })).toContainEqual(expect.stringContaining(violation))
})
