// Everything between a fire and a subscriber is killed at random instants: every acknowledged signal is in the log, and every client
// gets everything that is theirs, and nothing that was never fired.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDelivery } from '#signals/delivery/outbox.ts'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import { startKillable } from '../support/kills/killable.ts'
import { startTestRedis } from '../support/servers/redis.ts'
import { addSubscriber, until } from '../support/signals/delivery.ts'
import { type Received, startReceiver } from '../support/signals/receiver.ts'
import { fire } from '../support/signals/signals.ts'
import { type KillGround, openKillGround, PACE } from '../support/signals/signals-kills.ts'
import { type History, violationsIn } from '../support/signals/signals-soundness.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const DELIVERY = join(import.meta.dirname, '../support/signals/delivery-process.worker.ts')

const SEEDS = 24

describe('processes that take fires, processes that deliver and Redis killed at random instants', () => {
  let ground: KillGround
  beforeAll(async () => {
    ground = await openKillGround()
  })
  afterAll(() => ground.close())

  // One history for all of them: each round goes on with what the kills before it have left.
  for (let seed = 1; seed <= SEEDS; seed++) {
    test(`seed ${seed}: nothing acknowledged is lost, all of it arrives, and nothing else does`, async () => {
      const { killed, violations } = await ground.playRound(seed)
      expect(killed).toBeGreaterThan(0)
      expect(violations).toEqual([])
    })
  }
})

test('a process killed twice in the middle of the same request: a third one delivers, and no attempt was counted', async () => {
  const server = await startTestRedis()
  const redis = await server.connect()
  const folder = await temporaryFolder()
  const receiver = await startReceiver((_, response) => {
    if (receiver.received.length > 2) response.end()
  })
  await addSubscriber(redis, 'ash', receiver.urlOf('ash'))
  await fire(redis, 'a1', 'alder')
  const order = { redisUrl: server.url, privateFolder: join(folder, 'private'), pace: PACE }
  const delivery = await startKillable(DELIVERY, order, join(folder, 'compiled'))
  for (const requests of [1, 2]) {
    await until(() => receiver.received.length === requests)
    await delivery.kill()
    await delivery.start()
  }
  await until(async () => (await readDelivery(redis, 1, 'ash'))?.status === 'delivered')
  expect(receiver.of('ash')).toEqual([1, 1, 1])
  expect(receiver.received.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '1', '1'])
  await delivery.kill()
  await server.stop()
})

describe('a history is found unsound that', () => {
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
  const without = (index: number): Received[] => sound.received.filter((_, i) => i !== index)
  const acknowledged = (id: string, seqs: number[]) =>
    new Map([...sound.fired, [id, { alias: 'alder', seqs }]])

  test.each<[string, Partial<History>, string]>([
    ['lost what it acknowledged', { fired: acknowledged('lost', [4]) }, 'lost was acknowledged as 4'],
    [
      'gave two numbers for one id',
      { fired: acknowledged('a', [1, 2]) },
      'a was acknowledged as 2, and is 1',
    ],
    ['has an id twice', { log: [a, b, signalOf(3, 'a', 'alder')] }, 'a is signal 1 and signal 3'],
    ['has a hole in its numbers', { log: [a, b, { ...c, seq: 4 }] }, 'signal 4 stands at place 3'],
    ['logged a signal that was never fired', { fired: new Map() }, 'nobody fired a'],
    ['never delivered', { received: without(4) }, 'east never got 2'],
    [
      'delivered to a client that is not entitled to it',
      { received: [arrival('north', 1, b)] },
      'north got 2, which it may not',
    ],
    [
      'delivered to a client without entitlements',
      { received: [arrival('none', 0, a)] },
      'none got 1, which it may not',
    ],
    ['delivered to a stranger', { received: [arrival('else', 0, a)] }, 'else is no client'],
    [
      'invented a signal',
      { received: [arrival('north', 3, { ...c, seq: 4 })] },
      'north got 4, which it may not',
    ],
    ['named another predecessor', { received: [arrival('north', 2, c)] }, 'north got 3 after 2, not 1'],
    [
      'sent other bytes',
      { received: [arrival('north', 0, { ...a, body: '{}' })] },
      'north got other bytes of 1',
    ],
  ])('%s', (_, change, violation) => {
    expect(violationsIn(sound)).toEqual([])
    expect(violationsIn({ ...sound, ...change })).toContainEqual(expect.stringContaining(violation))
  })
})
