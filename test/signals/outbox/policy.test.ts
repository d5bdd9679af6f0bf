// The policy of deliveries: retries, breaker, alerts and disabling, as pure functions.
import { shuffler } from 'd3-array'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DeliveryEvent } from '#signals/delivery/deliver.ts'
import { createWatchdog, STUCK_AFTER_MS } from '#signals/delivery/workers.ts'
import {
  afterFailedDelivery,
  afterFailure,
  type Breaker,
  CLOSED_BREAKER,
  conditionAfter,
  dueAlertMs,
  type EndpointHealth,
  HEALTHY,
  shouldDisable,
} from '#signals/outbox/webhook-condition.ts'
import {
  BREAKER_FAILURES,
  clampRetryAfter,
  LONGEST_RETRY_AFTER_MS,
  nextRetryMs,
  RETRY_JITTER,
  RETRY_WAITS_MS,
} from '#signals/send/policy.ts'
import { forAll } from '#test/support/for-all.ts'

const NOW = Date.parse('2026-11-21T00:00:00Z')
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const middle = () => 0.5
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('retries are 16 attempts in 28 hours, five of them in the first 45 seconds', () => {
  const starts = [0]
  for (let attempt = 1; nextRetryMs(attempt, middle) !== null; attempt++) {
    starts.push(starts.at(-1)! + nextRetryMs(attempt, middle)!)
  }
  expect(starts).toHaveLength(16)
  expect(starts.at(-1)! / HOUR).toBeCloseTo(28, 0)
  expect(starts.filter(ms => ms <= 45 * SECOND)).toEqual([0, 1_000, 4_000, 14_000, 44_000])
})

test('retries stay within a fifth of the planned wait for every random number, and each plan is longer than the one before', () => {
  forAll(fc.integer({ min: 1, max: RETRY_WAITS_MS.length }), random, (attempt, thrown) => {
    const planned = RETRY_WAITS_MS[attempt - 1]!
    const waitMs = nextRetryMs(attempt, () => thrown)!
    expect(Math.abs(waitMs - planned)).toBeLessThanOrEqual(planned * RETRY_JITTER)
    expect(Number.isInteger(waitMs)).toBe(true)
  })
  expect(RETRY_WAITS_MS).toEqual([...new Set(RETRY_WAITS_MS)].toSorted((a, b) => a - b))
  expect(nextRetryMs(1, () => 0)).toBe(800)
  expect(nextRetryMs(1, () => 0.999_999)).toBe(1_200)
})

test('retries end after the last attempt, and an attempt that cannot be is refused', () => {
  expect(nextRetryMs(16, middle)).toBeNull()
  expect(nextRetryMs(1_000, middle)).toBeNull()
  for (const attempt of [0, -1, 1.5, Number.NaN])
    expect(() => nextRetryMs(attempt, middle)).toThrow(RangeError)
})

test('retries honour a Retry-After, but neither come sooner for it nor are put off by more than an hour', () => {
  expect(clampRetryAfter(1_000, 30_000)).toBe(30_000)
  expect(clampRetryAfter(1_000, 0)).toBe(1_000)
  expect(clampRetryAfter(1_000, null)).toBe(1_000)
  expect(clampRetryAfter(1_000, 1e12)).toBe(LONGEST_RETRY_AFTER_MS)
  expect(clampRetryAfter(12 * HOUR, 1e12)).toBe(12 * HOUR)
})

const failTimes = (count: number, from: Breaker = CLOSED_BREAKER, nowMs = NOW): Breaker =>
  Array.from({ length: count }).reduce<Breaker>(breaker => afterFailure(breaker, nowMs), from)

/** What a delivery that succeeded leaves of it. */
const succeed = (breaker: Breaker): Breaker =>
  conditionAfter({ breaker, health: HEALTHY }, 1, { kind: 'delivered' }, NOW).condition.breaker

test('the breaker opens at the fifth failure in a row, and not at five with a success among them', () => {
  expect(failTimes(4)).toEqual({ kind: 'closed', failures: 4 })
  expect(failTimes(5)).toEqual({ kind: 'open', probes: 0, probeAtMs: NOW + 15 * SECOND })
  const after = succeed(failTimes(4))
  expect(failTimes(4, after)).toEqual({ kind: 'closed', failures: 4 })
})

test('the breaker probes at 15 s, at 60 s, then every five minutes', () => {
  let breaker = failTimes(5)
  const probes: number[] = []
  for (let i = 0; i < 5; i++) {
    if (breaker.kind !== 'open') throw new Error('a failed probe closed it')
    const { probeAtMs } = breaker
    probes.push((probeAtMs - NOW) / SECOND)
    breaker = afterFailure(breaker, probeAtMs)
  }
  expect(probes).toEqual([15, 60, 360, 660, 960])
})

test('the breaker takes a failure that began before it opened for no probe', () => {
  const open = failTimes(5)
  expect(afterFailure(open, NOW + 14 * SECOND)).toEqual(open)
})

test('the breaker probes no sooner than a Retry-After asks, an hour at the most', () => {
  const almost = failTimes(4)
  expect(afterFailure(almost, NOW, 10 * MINUTE)).toMatchObject({ probeAtMs: NOW + 10 * MINUTE })
  expect(afterFailure(almost, NOW, 1e12)).toMatchObject({ probeAtMs: NOW + HOUR })
})

test('the breaker recovers from every history: a success always closes it, and an open one always has a probe ahead', () => {
  const events = fc.array(
    fc.tuple(fc.constantFrom('success', 'failure'), fc.integer({ min: 0, max: 400_000 })),
  )
  forAll(events, history => {
    let nowMs = NOW
    let breaker = CLOSED_BREAKER
    for (const [event, laterMs] of history) {
      nowMs += laterMs
      breaker = event === 'success' ? succeed(breaker) : afterFailure(breaker, nowMs)
      if (breaker.kind === 'open') expect(breaker.probeAtMs - nowMs).toBeLessThanOrEqual(5 * MINUTE)
      else expect(breaker.failures).toBeLessThan(BREAKER_FAILURES)
      expect(JSON.parse(JSON.stringify(breaker))).toEqual(breaker)
    }
    expect(succeed(breaker)).toEqual(CLOSED_BREAKER)
  })
})

/** An endpoint that failed `attempts` times from NOW on, each time with the next of `signals` signals. */
const failing = (attempts: number, signals: number, status: number | null = 500): EndpointHealth =>
  Array.from({ length: attempts }).reduce<EndpointHealth>(
    (health, _, i) => afterFailedDelivery(health, 1 + (i % signals), status, NOW + i),
    HEALTHY,
  )

test('a webhook is disabled after 72 h and 3 signals and 20 attempts, and not if one of them is short', () => {
  const later = NOW + 72 * HOUR
  expect(shouldDisable(failing(20, 3), later)).toBe(true)
  expect(shouldDisable(failing(20, 3), later - 1)).toBe(false)
  expect(shouldDisable(failing(20, 2), later)).toBe(false)
  expect(shouldDisable(failing(19, 3), later)).toBe(false)
})

test('a webhook that had nothing to take for weeks is not disabled by the first failures', () => {
  expect(shouldDisable(failing(100, 50), NOW + HOUR)).toBe(false)
  expect(shouldDisable(HEALTHY, NOW + 1_000 * HOUR)).toBe(false)
})

test('a webhook is disabled by 410 twice in a row, not by one, nor by two with another answer between', () => {
  expect(shouldDisable(failing(1, 1, 410), NOW)).toBe(false)
  expect(shouldDisable(failing(2, 1, 410), NOW)).toBe(true)
  const between = afterFailedDelivery(failing(1, 1, 410), 1, null, NOW)
  expect(shouldDisable(afterFailedDelivery(between, 1, 410, NOW), NOW)).toBe(false)
})

test('a failing webhook raises one alert at 5 min, 1 h, 24 h and 48 h each, and only the longest of those that were missed', () => {
  let health = failing(5, 1)
  const raised: number[] = []
  for (let nowMs = NOW; nowMs <= NOW + 80 * HOUR; nowMs += MINUTE) {
    const due = dueAlertMs(health, nowMs)
    if (due === null) continue
    expect(nowMs - NOW).toBe(due)
    raised.push(due)
    health = { ...health, alertedMs: due }
  }
  expect(raised).toEqual([5 * MINUTE, HOUR, 24 * HOUR, 48 * HOUR])
  expect(dueAlertMs(failing(5, 1), NOW + 30 * HOUR)).toBe(24 * HOUR)
  expect(dueAlertMs(HEALTHY, NOW)).toBeNull()
})

test('the health of a webhook remembers no more than it needs, however long it fails', () => {
  expect(failing(500, 100).failedSeqs).toEqual([1, 2, 3])
})

test('the watchdog reports once that clients are due while no worker begins with one, and again after a worker began', async () => {
  const state = { waiting: 3, lastStartMs: 0, nowMs: 100_000 }
  const events: DeliveryEvent[] = []
  const look = createWatchdog({
    counts: async () => ({ fast: state.waiting, slow: 0 }),
    lastStartMs: () => state.lastStartMs,
    now: () => state.nowMs,
    onEvent: event => void events.push(event),
  })
  await look()
  state.nowMs += STUCK_AFTER_MS - 1
  await look()
  expect(events).toEqual([])
  state.nowMs += 1
  await look()
  state.nowMs += STUCK_AFTER_MS
  await look()
  expect(events).toEqual([{ kind: 'stuck', waiting: 3, forMs: STUCK_AFTER_MS }])
  state.lastStartMs = state.nowMs
  state.nowMs += STUCK_AFTER_MS
  await look()
  expect(events).toHaveLength(2)
  state.waiting = 0
  state.nowMs += 10 * STUCK_AFTER_MS
  await look()
  state.waiting = 1
  await look()
  expect(events).toHaveLength(2)
})

test('a fair order has the same clients, and puts each of them first as often as any other', () => {
  forAll(
    fc.array(fc.integer()),
    fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
    (list, random) => {
      const mixed = shuffler(() => random.next().value)([...list])
      expect(mixed.toSorted((a, b) => a - b)).toEqual(list.toSorted((a, b) => a - b))
    },
  )
  const firsts = new Map<string, number>()
  for (const a of [0, 0.4, 0.7]) {
    for (const b of [0, 0.5]) {
      const draws = [a, b]
      const [first = ''] = shuffler(() => draws.shift() ?? 0)(['x', 'y', 'z'])
      firsts.set(first, (firsts.get(first) ?? 0) + 1)
    }
  }
  expect([...firsts.values()]).toEqual([2, 2, 2])
})
