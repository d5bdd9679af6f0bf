// What a worker does for one client, on a real ledger: order, retries, the breaker, and a last look before each sending. And
// the workers of one process: how many clients they have at a time, what they take over from workers that died, and what they
// do if they lose a client, because Redis or the process stood still and another worker may have it. Time is the test's.
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { SIGNAL_ACTIONS, type Signal, type SignalContent } from '#core/contract/signal.ts'
import { issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { entitleClient, suspendClient } from '#signals/clients/clients.ts'
import { drainDestination, LAST_START_SHARE } from '#signals/delivery/deliver.ts'
import { FLIGHT_MS, take } from '#signals/delivery/scripts.ts'
import { startWorkers } from '#signals/delivery/workers.ts'
import { commit } from '#signals/log/commit.ts'
import { createLogReader, type LoggedSignal, readAfter } from '#signals/log/read-log.ts'
import { dueCounts, readAttempts, readSchedule } from '#signals/outbox/outbox.ts'
import { accountFor, readExpired } from '#signals/outbox/resend.ts'
import { SOUND } from '#signals/outbox/webhook-condition.ts'
import {
  disableWebhook,
  enableWebhook,
  readWebhook,
  removeWebhook,
  saveWebhook,
  setSettings,
} from '#signals/outbox/webhooks.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { FLIGHT_PREFIX, LOG, SCHEDULES, webhookKey } from '#signals/redis/keys.ts'
import type { Outcome } from '#signals/send/outcome.ts'
import { ATTEMPT_TIMEOUT_MS, RETRY_WAITS_MS, SLOT_GIVEN_BACK_AFTER_MS } from '#signals/send/policy.ts'
import { forAllInTurn } from '../../support/for-all.ts'
import {
  type Answer,
  addEndpoint,
  addSubscriber,
  BOX,
  BY_OPERATOR,
  delivered,
  failed,
  madeWorld,
  owedCount,
  owingWorld,
  readDelivery,
  relayAll,
  startTimer,
  until,
} from '../../support/signals/delivery.ts'
import {
  beforeScripts,
  fire,
  NOW_MS,
  PROGRAM_ALIAS,
  seededBytes,
  signalContent,
} from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

const URL_OF_ACME = 'http://127.0.0.1:9999/acme'
const URL_OF_BACKUP = 'http://127.0.0.1:9999/backup'

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

useRedis()
beforeEach(() => addSubscriber(redis, 'acme', URL_OF_ACME))

/** Fires so many signals and owes them, with a receiver that answers by `answer`. */
async function owed(count: number, answer?: Answer) {
  const world = owingWorld(redis, answer)
  const more = (fresh: number): Promise<void> => world.more(...Array(fresh).fill('alder'))
  await more(count)
  return { ...world, more }
}

/** Ends the lease of a client as its expiry does. */
const expire = () => redis.del(`${FLIGHT_PREFIX}acme`)

const statusOf = async (seq: number) => (await readDelivery(redis, seq, 'acme'))?.status

test('the records of a client that have not changed are not read for each signal', async () => {
  const { more } = await owed(1)
  await redis.config('RESETSTAT')
  await more(1)
  expect(await redis.info('commandstats')).toContain('cmdstat_hgetall:calls=1,') // what the relay has passed
})

test('a client can see what it missed while it had no webhook, by the number before the next signal', async () => {
  const { drain, more, pairs, clock } = await owed(1)
  await drain()
  await disableWebhook(redis, 'acme', 'a test')
  clock.ms += 1
  await more(2)
  await enableWebhook(redis, 'acme')
  clock.ms += 1
  await more(1)
  await drain()
  expect(pairs().flat()).toEqual([1, 0, 4, 3])
})

/** How an endpoint may do badly, for which another one of its client does not pay. */
const TROUBLES: Readonly<Record<string, Answer>> = {
  hangs: () => new Promise(() => {}),
  fails: () => failed(),
  'is gone': () => failed(410),
  'is slow': () => delivered(9_000),
}

for (const [trouble, answer] of Object.entries(TROUBLES)) {
  test(`an endpoint that ${trouble} changes nothing of another one of its client: lane, breaker, health, order and numbers are its own`, async () => {
    await addEndpoint(redis, 'acme/backup', URL_OF_BACKUP)
    const { drain, sent, clock } = await owed(8, order =>
      order.url === URL_OF_ACME ? answer(order) : delivered(),
    )
    clock.ms += 1_000
    const troubled = drain('fast')
    expect(await drain('fast', 'acme/backup')).toEqual({ kind: 'done' })
    if (trouble !== 'hangs') await troubled
    for (let i = 0; i < 4; i++) {
      clock.ms += 3_600_000
      if (trouble !== 'hangs') await drain()
    }
    const backup = sent.filter(({ url }) => url === URL_OF_BACKUP)
    expect(backup.map(({ signal, prevSeq }) => [signal.seq, prevSeq])).toEqual(
      upTo(8).map(seq => [seq, seq - 1]),
    )
    const sound = { enabled: true, lane: 'fast', condition: SOUND, lastSuccessMs: NOW_MS + 1_000 }
    expect(await readWebhook(redis, BOX, 'acme/backup')).toMatchObject(sound)
    expect(await redis.zscore(SCHEDULES.slow, 'acme/backup')).toBeNull()
    expect((await readWebhook(redis, BOX, 'acme'))?.enabled).toBe(trouble !== 'is gone')
  })
}

const ALIASES = ['alder', 'birch', 'cedar']
const ENDPOINTS = ['acme', 'acme/backup', 'acme/log']
const filterOfSome = fc.option(fc.subarray(ALIASES, { minLength: 1 }), { nil: null })
const firings = fc.array(fc.oneof(fc.constantFrom(...ALIASES), fc.constantFrom(...ENDPOINTS)), {
  maxLength: 12,
})

test('each endpoint is sent the aliases that its client and its filter have, and its own tests, each with the number of the one that it was sent before', async () => {
  const filters = fc.tuple(filterOfSome, filterOfSome, filterOfSome)
  await forAllInTurn(15, filters, firings, fc.nat(12), async (wanted, fired, between) => {
    await redis.flushall()
    await addSubscriber(redis, 'acme', 'http://127.0.0.1/acme', ['alder', 'birch'])
    for (const [i, endpoint] of ENDPOINTS.entries()) {
      if (i > 0) await addEndpoint(redis, endpoint, `http://127.0.0.1/${endpoint}`)
      await setSettings(redis, BOX, endpoint, { filter: wanted[i] ?? null })
    }
    const { parts, sent } = madeWorld(redis)
    for (const [i, kind] of fired.entries()) {
      await fire(redis, `s${i}`, kind, kind.startsWith('acme') ? kind : null)
      if (i === between) await relayAll(redis, parts.now)
    }
    await relayAll(redis, parts.now)
    for (const [i, endpoint] of ENDPOINTS.entries()) {
      await drainDestination(parts, endpoint, 'fast')
      const isSent = (kind: string): boolean =>
        kind === endpoint || (['alder', 'birch'].includes(kind) && wanted[i]?.includes(kind) !== false)
      const seqs = fired.flatMap((kind, k) => (isSent(kind) ? [k + 1] : []))
      const own = sent.filter(({ url }) => url === `http://127.0.0.1/${endpoint}`)
      expect(own.map(({ signal, prevSeq }) => [signal.seq, prevSeq])).toEqual(
        seqs.map((seq, k) => [seq, seqs[k - 1] ?? 0]),
      )
    }
  })
})

test('an endpoint that is paused is owed its signals and sent none, waits in no schedule, and gets all of them in order when it goes on', async () => {
  await addEndpoint(redis, 'acme/backup', URL_OF_BACKUP)
  await disableWebhook(redis, 'acme', 'only the other one counts')
  const { drain, more, seqs, clock } = await owed(2, ({ attempt }) =>
    attempt === 1 ? failed() : delivered(),
  )
  await drain('slow', 'acme/backup') // two retries
  await setSettings(redis, BOX, 'acme/backup', { isPaused: true, expireAfterS: 60 })
  clock.ms += 60_000
  await more(2)
  for (const lane of ['fast', 'slow'] as const)
    expect(await drain(lane, 'acme/backup')).toEqual({ kind: 'done' })
  expect(await dueCounts(redis, clock.ms)).toEqual({ fast: 0, slow: 0 })
  expect([seqs(), await owedCount(redis, 'acme/backup')]).toEqual([[1, 2], 4])
  await setSettings(redis, BOX, 'acme/backup', { isPaused: false })
  const kept = { isPaused: false, expireAfterS: 60, filter: null }
  expect(await readWebhook(redis, BOX, 'acme/backup')).toMatchObject(kept)
  expect(await dueCounts(redis, clock.ms)).toEqual({ fast: 0, slow: 1 })
  await drain('slow', 'acme/backup')
  expect(seqs().slice(2)).toEqual([1, 2, 3, 4])
})

test('what a paused endpoint is owed is withdrawn if it is disabled, removed or suspended, and what a filter leaves out when it is due', async () => {
  const endings = [
    () => disableWebhook(redis, 'acme', 'a test'),
    () => removeWebhook(redis, 'acme'),
    async () => {
      const { id } = await issueKey(redis, 'acme', seededBytes('its setter'), NOW_MS)
      await redis.hset(webhookKey('acme'), { set_by: id, set_at: NOW_MS })
      await revokeKey(redis, id)
    },
    () => setSettings(redis, BOX, 'acme', { filter: ['birch'], isPaused: false }),
  ]
  for (const [i, end] of endings.entries()) {
    await redis.flushall()
    await addSubscriber(redis, 'acme', URL_OF_ACME)
    const { drain, sent } = await owed(1)
    await setSettings(redis, BOX, 'acme', { isPaused: true })
    await drain()
    await end()
    expect(await readSchedule(redis, 'fast', 1), `ending ${i}`).toMatchObject([{ destination: 'acme' }])
    await drain()
    expect([sent, await statusOf(1)]).toEqual([[], 'withdrawn'])
  }
  for (const [destination, settings, code] of [
    ['acme/other', { isPaused: true }, 'not_found'],
    ['acme', { filter: [] }, 'validation_error'],
    ['acme', { filter: ['NO'] }, 'validation_error'],
  ] as const)
    await expect(setSettings(redis, BOX, destination, settings)).rejects.toMatchObject({ code })
})

test('a client is left to the worker that has it, which finds what came meanwhile', async () => {
  const world = await owed(1, async ({ signal }) => {
    if (signal.seq === 1) {
      world.clock.ms += 1
      await world.more(1)
      expect(await world.drain()).toEqual({ kind: 'busy' })
    }
    return delivered()
  })
  await world.drain('fast')
  expect(world.seqs()).toEqual([1, 2])
})

test('a client has its turn, and then the others have theirs', async () => {
  const { drain, clock, seqs } = await owed(3, () => {
    clock.ms += 3_000
    return delivered(3_000)
  })
  expect(await drain()).toEqual({ kind: 'later', atMs: clock.ms })
  expect(seqs()).toEqual([1, 2])
  await drain()
  expect(seqs()).toEqual([1, 2, 3])
})

test('a client that is slow or fails is in the slow lane from then on, and back in the fast one when it is well', async () => {
  const answers = [delivered(1_500), delivered(), delivered(1_000)]
  const { drain, seqs } = await owed(3, () => answers.shift()!)
  expect(await drain('fast')).toMatchObject({ kind: 'later' })
  expect(seqs()).toEqual([1])
  expect((await readWebhook(redis, BOX, 'acme'))?.lane).toBe('slow')
  await drain('slow')
  expect(seqs()).toEqual([1, 2, 3])
  expect((await readWebhook(redis, BOX, 'acme'))?.lane).toBe('fast')
})

test('a signal is read from the log once by workers that need it at the same moment or later, and again after a failure', async () => {
  await fire(redis, 'one', 'alder')
  const { readSignal: read } = createLogReader(redis)
  await redis.config('RESETSTAT')
  const found = await Promise.all(Array.from({ length: 50 }, () => read(1)))
  expect(new Set([...found, await read(1)].map(signal => signal?.seq))).toEqual(new Set([1]))
  expect(await redis.info('commandstats')).toContain('cmdstat_xrange:calls=1,')

  const [away, later] = [createLogReader(redis).readSignal, found[0]]
  await redis.rename(LOG, 'set-aside')
  await redis.set(LOG, 'not a stream')
  await expect(Promise.resolve(away(1))).rejects.toThrow()
  await redis.rename('set-aside', LOG)
  expect(await away(1)).toEqual(later)
})

test('a signal is not read again by workers of the process that relayed it', async () => {
  await fire(redis, 'one', 'alder')
  const log = createLogReader(redis)
  const relayed = await log.readAfter(0, 10)
  await redis.config('RESETSTAT')
  expect(log.readSignal(1)).toBe(relayed[0])
  expect(await redis.info('commandstats')).not.toContain('cmdstat_xrange')
})

test('a signal that cannot be read because Redis is away stays owed, and no attempt is counted', async () => {
  const { parts, sent, events, errors, clock } = await owed(1)
  const readSignal = () => Promise.reject(new RedisDownError('away'))
  const result = await drainDestination({ ...parts, readSignal }, 'acme', 'fast')
  expect(result).toEqual({ kind: 'later', atMs: NOW_MS + 2_000 })
  expect([sent, events, errors]).toEqual([[], [], []])
  clock.ms += 60_000
  await drainDestination(parts, 'acme', 'fast')
  expect(await statusOf(1)).toBe('delivered')
})

test('a delivery that fails is tried again at its time, and delays no other', async () => {
  const { drain, clock, seqs } = await owed(2, ({ signal, attempt }) =>
    signal.seq === 1 && attempt === 1 ? failed() : delivered(),
  )
  expect(await drain()).toEqual({ kind: 'later', atMs: NOW_MS + 1_000 })
  expect(seqs()).toEqual([1, 2])
  clock.ms += 999
  await drain()
  expect(seqs()).toEqual([1, 2])
  clock.ms += 1
  expect(await drain()).toEqual({ kind: 'done' })
  expect(seqs()).toEqual([1, 2, 1])
  expect(await readAttempts(redis, 1, 'acme')).toMatchObject([
    { n: 1, ok: false, status: 500 },
    { n: 2, ok: true },
  ])
})

test('a delivery that fails sixteen times is exhausted, and reported to the operator once', async () => {
  // Every other signal arrives, so that the breaker stays closed.
  const { drain, more, clock, eventsOf, sent } = await owed(1, ({ signal }) =>
    signal.seq === 1 ? failed() : delivered(),
  )
  for (const waitMs of [...RETRY_WAITS_MS, 0]) {
    await drain()
    clock.ms += waitMs
    await more(1)
  }
  expect(sent.flatMap(({ signal, attempt }) => (signal.seq === 1 ? [attempt] : []))).toEqual(upTo(16))
  expect(await statusOf(1)).toBe('exhausted')
  expect(eventsOf('exhausted')).toEqual([{ kind: 'exhausted', destination: 'acme', seq: 1 }])
})

test('a delivery that fails by a fault of ours counts as no attempt, and its client is due again', async () => {
  const answers: Outcome[] = [{ kind: 'ourFault', reason: 'resolver_down' }, delivered()]
  const { drain, sent } = await owed(1, () => answers.shift()!)
  expect(await drain()).toEqual({ kind: 'later', atMs: NOW_MS + 2_000 })
  expect(await readAttempts(redis, 1, 'acme')).toEqual([])
  await drain()
  expect(sent.map(({ attempt }) => attempt)).toEqual([1, 1])
})

test('an error of the program at one signal makes it wait longer each time, delays no other, and is reported with the number in a row', async () => {
  let isMended = false
  const { drain, clock, eventsOf, errors, seqs } = await owed(2, ({ signal }) => {
    if (signal.seq === 1 && !isMended) throw new Error('a bug')
    return delivered()
  })
  for (const waitMs of [2_000, 4_000, 8_000]) {
    expect(await drain()).toMatchObject({ kind: 'later', atMs: clock.ms + waitMs })
    clock.ms += waitMs
  }
  expect(seqs()).toEqual([1, 2, 1, 1])
  expect(await readAttempts(redis, 1, 'acme')).toEqual([])
  expect(errors).toHaveLength(3)
  const fault = { kind: 'our fault', destination: 'acme', seq: 1, reason: 'program_error' }
  expect(eventsOf('our fault')).toEqual([1, 2, 3].map(inARow => ({ ...fault, inARow })))
  isMended = true
  expect(await drain()).toEqual({ kind: 'done' })
  expect([await statusOf(1), await statusOf(2)]).toEqual(['delivered', 'delivered'])
})

test('an error of the program at the client itself is reported, in a row even if calls found it busy in between', async () => {
  const { drain, events } = await owed(1)
  await redis.hset('{hw}:ledger:1', 'acme', 'no state')
  for (let i = 0; i < 3; i++) {
    await expect(drain()).rejects.toThrow()
    expect(await drain()).toEqual({ kind: 'busy' })
    await expire()
  }
  expect(events).toMatchObject([1, 2, 3].map(inARow => ({ kind: 'our fault', seq: null, inARow })))
})

test.each([
  ['enabled', () => enableWebhook(redis, 'acme')],
  [
    'registered',
    () => saveWebhook(redis, BOX, { destination: 'acme', url: URL_OF_ACME, secrets: [] }, BY_OPERATOR),
  ],
])(
  'a receiver that is down is attempted at once, and not at its next probe, if it is %s again',
  async (_, renew) => {
    const { drain, seqs } = await owed(5, () => failed(null))
    await drain()
    expect(await readSchedule(redis, 'slow', 10)).toEqual([{ destination: 'acme', atMs: NOW_MS + 15_000 }])
    await renew()
    expect(await readSchedule(redis, 'fast', 10)).toEqual([{ destination: 'acme', atMs: 0 }])
    expect(await readSchedule(redis, 'slow', 10)).toEqual([])
    await drain()
    expect(seqs().length).toBeGreaterThan(4)
    expect(await dueCounts(redis, NOW_MS)).toEqual({ fast: 0, slow: 0 })
  },
)

test('a receiver that fails for five minutes is reported once, with how long', async () => {
  const { drain, clock, eventsOf } = await owed(1, () => failed())
  for (const passedMs of [0, 299_999, 1, 60_000]) {
    clock.ms += passedMs
    await drain()
  }
  expect(eventsOf('failing')).toEqual([{ kind: 'failing', destination: 'acme', forMs: 300_000 }])
})

test('a receiver that is down is probed after 15 s with the only signal there is, though that one would wait for longer', async () => {
  let isUp = false
  const { drain, clock, seqs } = await owed(1, () => (isUp ? delivered() : failed(null)))
  for (const waitMs of RETRY_WAITS_MS.slice(0, 4)) {
    await drain()
    clock.ms += waitMs
  }
  const probeMs = clock.ms + 15_000
  expect(await drain()).toEqual({ kind: 'later', atMs: probeMs })
  clock.ms = probeMs
  expect(await drain()).toEqual({ kind: 'later', atMs: probeMs + 45_000 })
  expect((await readAttempts(redis, 1, 'acme')).map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, null])
  isUp = true
  clock.ms = probeMs + 45_000
  expect(await drain()).toEqual({ kind: 'done' })
  expect(seqs()).toHaveLength(7)
})

test('a receiver that is down is probed with the newest signal alone, and gets all in order as soon as it is back', async () => {
  let isUp = false
  const { drain, more, clock, sent, seqs } = await owed(5, ({ signal }) => {
    if (isUp) return delivered()
    return { ...failed(null), retryAfterMs: signal.seq === 1 ? 600_000 : null } // the first waits for much longer
  })
  expect(await drain()).toEqual({ kind: 'later', atMs: NOW_MS + 15_000 })
  expect(seqs()).toEqual([1, 2, 3, 4, 5])
  clock.ms += 1
  await more(1)
  expect(await drain()).toEqual({ kind: 'later', atMs: NOW_MS + 15_000 })
  clock.ms = NOW_MS + 15_000
  expect(await drain()).toEqual({ kind: 'later', atMs: NOW_MS + 60_000 })
  expect(seqs().slice(5)).toEqual([6])
  expect(await readAttempts(redis, 6, 'acme')).toMatchObject([{ n: null, ok: false }])
  isUp = true
  clock.ms = NOW_MS + 60_000
  expect(await drain()).toEqual({ kind: 'done' })
  expect(seqs().slice(6)).toEqual([6, 1, 2, 3, 4, 5])
  expect(sent.at(-1)?.attempt).toBe(2)
  const { breaker } = (await readWebhook(redis, BOX, 'acme'))!.condition
  expect(breaker).toEqual({ kind: 'closed', failures: 0 })
})

test('a receiver that answers 410 Gone twice in a row is disabled, and what was owed is withdrawn', async () => {
  const { drain, eventsOf, seqs } = await owed(4, () => failed(410))
  await drain()
  expect(seqs()).toEqual([1, 2])
  expect(await readWebhook(redis, BOX, 'acme')).toMatchObject({
    enabled: false,
    disabledWhy: 'the receiver answered 410 Gone 2 times in a row',
  })
  expect(await Promise.all([1, 2, 3, 4].map(statusOf))).toEqual(Array(4).fill('withdrawn'))
  expect(eventsOf('disabled')).toHaveLength(1)
  expect(await owedCount(redis, 'acme')).toBe(0)
})

test('a webhook that was set again during an attempt starts without failures', async () => {
  const { drain } = await owed(1, async () => {
    const url = 'http://127.0.0.1:9999/elsewhere'
    const found = await readWebhook(redis, BOX, 'acme')
    await saveWebhook(redis, BOX, { destination: 'acme', url, secrets: found?.secrets ?? [] }, BY_OPERATOR)
    return failed(410)
  })
  await drain()
  expect((await readWebhook(redis, BOX, 'acme'))?.condition.health.gone).toBe(0)
})

const changes = {
  'was disabled': () => disableWebhook(redis, 'acme', 'a test'),
  'belongs to a client that was suspended': () => suspendClient(redis, 'acme'),
  'belongs to a client that lost the alias': () =>
    entitleClient(redis, 'acme', { aliases: [] }, PROGRAM_ALIAS),
}
for (const [name, change] of Object.entries(changes)) {
  test(`a worker sends nothing to a webhook that ${name} while signals were queued`, async () => {
    const { drain, sent, events } = await owed(2)
    await change()
    expect(await drain()).toEqual({ kind: 'done' })
    expect(sent).toEqual([])
    expect(await statusOf(1)).toBe('withdrawn')
    expect(events.map(({ kind }) => kind)).toEqual(['withdrawn', 'withdrawn'])
  })

  test(`a worker sends nothing to a webhook that ${name} while the signal was read`, async () => {
    const { parts, sent } = await owed(1)
    const readSignal: typeof parts.readSignal = seq => {
      const reading = parts.readSignal(seq)
      return reading instanceof Promise ? change().then(() => reading) : reading
    }
    expect(await drainDestination({ ...parts, readSignal }, 'acme', 'fast')).toEqual({ kind: 'done' })
    expect(sent).toEqual([])
    expect(await statusOf(1)).toBe('withdrawn')
  })
}

type World = ReturnType<typeof owingWorld>

/** Workers with little room, of a world in which so many clients are owed a signal. */
async function deliverTo(count: number, answer: Answer) {
  const clients = Array.from({ length: count }, (_, i) => `client-${i}`)
  for (const client of clients) await addSubscriber(redis, client, `http://127.0.0.1/${client}`, ['birch'])
  const world = owingWorld(redis, answer)
  await world.more('birch')
  const waits: number[] = []
  const waited: typeof startTimer = (ms, run) => startTimer(waits.push(ms) && ms, run)
  const workers = startWorkers({ ...world.parts, startTimer: waited }, 5, { fast: 16, slow: 8 })
  const expectDone = async (): Promise<void> => {
    await workers.close()
    expect(await Promise.all(clients.map(client => owedCount(redis, client)))).toEqual(Array(count).fill(0))
    expect(world.errors).toEqual([])
    expect(waits.filter(ms => ms !== SLOT_GIVEN_BACK_AFTER_MS && ms > 5)).toEqual([]) // until the next poll
  }
  return { ...world, clients, workers, expectDone }
}

test('receivers that hang, more of them than there is room for, do not delay the others', async () => {
  const isHanging = (url: string): boolean => Number(url.split('-').at(-1)) < 20
  const hanging: ((outcome: Outcome) => void)[] = []
  const { clients, workers, clock, sent, expectDone } = await deliverTo(24, ({ url }) =>
    isHanging(url) ? new Promise(resolve => hanging.push(resolve)) : delivered(),
  )
  workers.begin('fast', clients)
  await until(() => hanging.length === 16)
  clock.ms += SLOT_GIVEN_BACK_AFTER_MS
  await until(() => sent.length === 24)
  for (const answer of hanging) answer(delivered())
  await expectDone()
})

test('workers deliver to no more clients at a time than there is room for, and to the others as soon as there is', async () => {
  const answers: ((outcome: Outcome) => void)[] = []
  const { parts, sent, expectDone } = await deliverTo(20, () => new Promise(resolve => answers.push(resolve)))
  await until(() => sent.length === 16)
  expect(await dueCounts(redis, parts.now())).toEqual({ fast: 4, slow: 0 })
  for (const answer of answers.splice(0)) answer(delivered())
  await until(() => sent.length === 20)
  for (const answer of answers) answer(delivered())
  await expectDone()
})

/** A worker that reaches Redis after something happened. */
const workerAfter = ({ parts, clock }: Pick<World, 'parts' | 'clock'>, happens: () => Promise<void>) => ({
  ...parts,
  redis: beforeScripts(redis, happens),
  sleep: async (ms: number): Promise<void> => {
    clock.ms += ms
  },
})

test('a request is never begun so late that its deadline lies after the lease of its client', () => {
  expect(FLIGHT_MS * LAST_START_SHARE + ATTEMPT_TIMEOUT_MS).toBeLessThan(FLIGHT_MS)
})

test('a delivery is not begun if its lease is nearly over because Redis was away while the delivery before it was recorded', async () => {
  const backMs = NOW_MS + FLIGHT_MS - 1_000
  let isAway = false
  const { drain, seqs, ...world } = await owed(3, () => {
    isAway = seqs().length === 1
    return delivered()
  })
  const worker = workerAfter(world, async () => {
    if (isAway && world.clock.ms < backMs) throw new Error('away')
  })
  expect(await drainDestination(worker, 'acme', 'fast')).toMatchObject({ kind: 'later' })
  expect(seqs()).toEqual([1])
  expect(await statusOf(1)).toBe('delivered')
  await drain() // another worker, at once: the client was given back
  expect(seqs()).toEqual([1, 2, 3])
})

test('a request is not begun by a process that stood still, and the client is given back with everything owed', async () => {
  const { drain, seqs, ...world } = await owed(2)
  const worker = workerAfter(world, async () => {
    world.clock.ms += FLIGHT_MS * LAST_START_SHARE
  })
  expect(await drainDestination(worker, 'acme', 'fast')).toMatchObject({ kind: 'later' })
  expect(seqs()).toEqual([])
  expect(await redis.exists(`${FLIGHT_PREFIX}acme`)).toBe(0)
  await drain()
  expect(seqs()).toEqual([1, 2])
})

test('a signal that two workers sent is delivered if one request was acknowledged, whichever result is written first', async () => {
  for (const outcomes of [
    [failed(), delivered()],
    [delivered(), failed()],
  ] as const) {
    await redis.flushall()
    await addSubscriber(redis, 'acme', URL_OF_ACME)
    const { drain, seqs } = await owed(1, async () => {
      if (seqs().length > 1) return outcomes[0]
      await expire() // the first worker stands still in its request
      await drain()
      return outcomes[1]
    })
    await drain()
    expect(seqs()).toEqual([1, 1])
    expect(await statusOf(1)).toBe('delivered')
    expect(await owedCount(redis, 'acme')).toBe(0)
    expect((await readAttempts(redis, 1, 'acme')).map(({ ok }) => ok).sort()).toEqual([false, true])
  }
})

test('a client whose lease was granted in a lost reply is taken again by the same worker, and by no other', async () => {
  await owed(1)
  const mine = { destination: 'acme', token: 'me', flightMs: FLIGHT_MS }
  await take(redis, mine, NOW_MS) // the reply is lost
  expect(await take(redis, mine, NOW_MS)).toMatchObject({ kind: 'send', seq: 1 })
  expect(await take(redis, { ...mine, token: 'other' }, NOW_MS)).toEqual({ kind: 'busy' })
})

type Event = Pick<SignalContent, 'action' | 'mode' | 'alias'> & {
  readonly isTest: boolean
  readonly isUp: boolean
  readonly waitMs: number
}

const event: fc.Arbitrary<Event> = fc.record({
  action: fc.constantFrom(...SIGNAL_ACTIONS),
  mode: fc.constantFrom('LIVE', 'LIVE', 'DRY_RUN'),
  alias: fc.constantFrom('alder', 'alder', 'birch'),
  isTest: fc.constantFrom(true, false, false, false),
  isUp: fc.constantFrom(true, false, false),
  waitMs: fc.constantFrom(0, 30_000, 60_000, 60_001),
})

/** Fires, and delivers to a receiver that is up or not, until everything is settled. */
async function playExpiry(events: readonly Event[]) {
  let isUp = true
  const late: number[] = []
  const world = owingWorld(redis, ({ signal }) => {
    if (world.clock.ms - signal.atMs > 60_000) late.push(signal.seq)
    return isUp ? delivered() : failed()
  })
  await addSubscriber(redis, 'acme', URL_OF_ACME)
  await setSettings(redis, BOX, 'acme', { expireAfterS: 60 })
  for (const [i, { isTest, waitMs, ...given }] of events.entries()) {
    const content = signalContent(`s${i}`, { ...given, is_test: isTest })
    await commit(
      redis,
      [{ content, onlyFor: isTest && given.mode === 'DRY_RUN' ? 'acme' : null }],
      world.clock.ms,
    )
    world.clock.ms += waitMs
    isUp = given.isUp
    await world.more()
    await world.drain()
  }
  isUp = true
  while ((await owedCount(redis, 'acme')) > 0) {
    world.clock.ms += 300_000 // the longest wait of a probe, and of the retries that so few failures can reach
    await world.drain()
  }
  return { ...world, late }
}

test('an endpoint with an expiry is sent all but entries that are too old, which are named, and every number before names all of them', async () => {
  let expiries = 0
  await forAllInTurn(12, fc.array(event, { minLength: 4, maxLength: 12 }), async events => {
    await redis.flushall()
    const { sent, eventsOf, late } = await playExpiry(events)
    const seen = (await readAfter(redis, 0, 100)).filter(({ alias, onlyFor }) => onlyFor ?? alias === 'alder')
    const isEntry = ({ body }: LoggedSignal): boolean => {
      const { mode, is_test, action } = JSON.parse(body) as Signal
      return mode === 'LIVE' && !is_test && action !== 'flat'
    }
    const entries = seen.filter(isEntry).map(({ seq }) => seq)
    const expired = eventsOf('expired').flatMap(each => ('seq' in each ? (each.seq ?? []) : []))
    const numbers = expired.toSorted((x, y) => x - y)
    expect(entries).toEqual(expect.arrayContaining(numbers))
    expect(late.filter(seq => entries.includes(seq))).toEqual([])
    const before = new Map(seen.map(({ seq }, i) => [seq, seen[i - 1]?.seq ?? 0]))
    for (const { signal, prevSeq } of sent) expect(prevSeq).toBe(before.get(signal.seq))
    const account = await accountFor(redis, 'acme', null, null)
    expect(account).toMatchObject({
      entitled: seen.length,
      expired: numbers,
      missing: numbers,
      owed: [],
      exhausted: [],
    })
    expect(await readExpired(redis, 'acme', null, seen)).toEqual(
      numbers.map(seq => ({ seq, endpoints: ['default'] })),
    )
    expiries += numbers.length
  })
  expect(expiries).toBeGreaterThan(10) // the law was not met for want of cases
})
