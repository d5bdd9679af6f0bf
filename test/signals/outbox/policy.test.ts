// The policy of deliveries: retries, breaker, alerts and disabling, as pure functions.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MODES, type SignalAction, type SignalContent } from '#core/contract/signal.ts'
import { type DeliveryEvent, isExpired } from '#signals/delivery/deliver.ts'
import { createWatchdog, STUCK_AFTER_MS } from '#signals/delivery/workers.ts'
import { type Condition, conditionAfter, SOUND } from '#signals/outbox/webhook-condition.ts'
import {
  BREAKER_FAILURES,
  clampRetryAfter,
  LONGEST_RETRY_AFTER_MS,
  nextRetryMs,
  RETRY_JITTER,
  RETRY_WAITS_MS,
} from '#signals/send/policy.ts'
import { forAll } from '#test/support/for-all.ts'
import { signalContent } from '../../support/signals/signals.ts'

const NOW = Date.parse('2026-11-21T00:00:00Z')
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const middle = () => 0.5
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** Whether a signal of this age expires at an endpoint that takes entries of a minute. */
const expires = (ageMs: number, more: Partial<SignalContent>, resent?: true, afterS: number | null = 60) => {
  const body = JSON.stringify(signalContent('one', more))
  return isExpired(
    { seq: 1, alias: 'alder', onlyFor: null, body, atMs: NOW },
    { resent },
    afterS,
    NOW + ageMs,
  )
}

test.each<[boolean, number, SignalAction, Partial<SignalContent>, (true | undefined)?, (number | null)?]>([
  [true, MINUTE + 1, 'long', {}],
  [true, MINUTE + 1, 'short', {}],
  [true, 1, 'long', {}, undefined, 0],
  [false, MINUTE, 'long', {}],
  [false, -MINUTE, 'long', {}],
  [false, MINUTE + 1, 'long', { mode: 'DRY_RUN' }],
  [false, MINUTE + 1, 'long', { is_test: true }],
  [false, MINUTE + 1, 'long', {}, true],
  [false, 1e12, 'long', {}, undefined, null],
])(
  '%s: a signal of %i ms with the action %s %j expires after a minute',
  (expected, age, action, more, ...rest) => {
    expect(expires(age, { action, ...more }, ...rest)).toBe(expected)
  },
)

test('a flat never expires, and neither does an action that this release does not know', () => {
  const modes = fc.constantFrom(...MODES)
  forAll(
    fc.nat(1e9),
    modes,
    fc.boolean(),
    fc.constantFrom('flat', 'reduce'),
    (ageMs, mode, is_test, action) => {
      expect(expires(ageMs, { mode, is_test, action: action as SignalAction }, undefined, 0)).toBe(false)
    },
  )
})

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

test('retries end after the last attempt', () => {
  expect(nextRetryMs(16, middle)).toBeNull()
  expect(nextRetryMs(1_000, middle)).toBeNull()
})

test('retries honour a Retry-After, but neither come sooner for it nor are put off by more than an hour', () => {
  expect(clampRetryAfter(1_000, 30_000)).toBe(30_000)
  expect(clampRetryAfter(1_000, 0)).toBe(1_000)
  expect(clampRetryAfter(1_000, null)).toBe(1_000)
  expect(clampRetryAfter(1_000, 1e12)).toBe(LONGEST_RETRY_AFTER_MS)
  expect(clampRetryAfter(12 * HOUR, 1e12)).toBe(12 * HOUR)
})

const FAILED = { kind: 'failed', status: 500, retryAfterMs: null } as const

/** A condition after a failed delivery of signal 1. */
const fail = (condition: Condition, nowMs = NOW, retryAfterMs: number | null = null): Condition =>
  conditionAfter(condition, 1, { ...FAILED, retryAfterMs }, nowMs).condition

const failTimes = (count: number, from = SOUND): Condition =>
  Array.from({ length: count }).reduce<Condition>(condition => fail(condition), from)

const succeed = (condition: Condition): Condition =>
  conditionAfter(condition, 1, { kind: 'delivered' }, NOW).condition

test('the breaker opens at the fifth failure in a row, and not at five with a success among them', () => {
  expect(failTimes(4).breaker).toEqual({ kind: 'closed', failures: 4 })
  expect(failTimes(5).breaker).toEqual({ kind: 'open', probes: 0, probeAtMs: NOW + 15 * SECOND })
  expect(failTimes(4, succeed(failTimes(4))).breaker).toEqual({ kind: 'closed', failures: 4 })
})

test('the breaker probes at 15 s, at 60 s, then every five minutes, and takes a failure that began before it opened for no probe', () => {
  let condition = failTimes(5)
  const probes: number[] = []
  for (let i = 0; i < 5; i++) {
    const { breaker } = condition
    if (breaker.kind !== 'open') throw new Error('a failed probe closed it')
    probes.push((breaker.probeAtMs - NOW) / SECOND)
    condition = fail(condition, breaker.probeAtMs)
  }
  expect(probes).toEqual([15, 60, 360, 660, 960])
  const open = failTimes(5)
  expect(fail(open, NOW + 14 * SECOND).breaker).toEqual(open.breaker)
})

test('the breaker probes no sooner than a Retry-After asks, an hour at the most', () => {
  const almost = failTimes(4)
  expect(fail(almost, NOW, 10 * MINUTE).breaker).toMatchObject({ probeAtMs: NOW + 10 * MINUTE })
  expect(fail(almost, NOW, 1e12).breaker).toMatchObject({ probeAtMs: NOW + HOUR })
})

test('the breaker recovers from every history: a success always closes it, and an open one always has a probe ahead', () => {
  const events = fc.array(
    fc.tuple(fc.constantFrom('success', 'failure'), fc.integer({ min: 0, max: 400_000 })),
  )
  forAll(events, history => {
    let nowMs = NOW
    let condition = SOUND
    for (const [event, laterMs] of history) {
      nowMs += laterMs
      condition = event === 'success' ? succeed(condition) : fail(condition, nowMs)
      const { breaker } = condition
      if (breaker.kind === 'open') expect(breaker.probeAtMs - nowMs).toBeLessThanOrEqual(5 * MINUTE)
      else expect(breaker.failures).toBeLessThan(BREAKER_FAILURES)
      expect(JSON.parse(JSON.stringify(condition))).toEqual(condition)
    }
    expect(succeed(condition)).toEqual(SOUND)
  })
})

/** What the last of `attempts` failures leaves, each of the next of `signals` signals: the first at NOW. */
function failing(attempts: number, signals: number, lastMs = NOW, status = 500) {
  let after = conditionAfter(SOUND, 1, { ...FAILED, status }, attempts === 1 ? lastMs : NOW)
  for (let i = 1; i < attempts; i++) {
    const nowMs = i === attempts - 1 ? lastMs : NOW
    after = conditionAfter(after.condition, 1 + (i % signals), { ...FAILED, status }, nowMs)
  }
  return after
}

test('a webhook is disabled after 72 h and 3 signals and 20 attempts, and not if one of them is short, nor by the first failures after weeks with nothing to take', () => {
  const later = NOW + 72 * HOUR
  expect(failing(20, 3, later).disabled).toMatch('20 attempts of at least 3 signals')
  expect(failing(20, 3, later - 1).disabled).toBeNull()
  expect(failing(20, 2, later).disabled).toBeNull()
  expect(failing(19, 3, later).disabled).toBeNull()
  expect(failing(100, 50, NOW + HOUR).disabled).toBeNull()
  expect(failing(1, 1, NOW + 1_000 * HOUR).disabled).toBeNull()
})

test('a webhook is disabled by 410 twice in a row, not by one, nor by two with another answer between', () => {
  const once = failing(1, 1, NOW, 410)
  expect(once.disabled).toBeNull()
  expect(failing(2, 1, NOW, 410).disabled).toMatch('410')
  expect(conditionAfter(fail(once.condition), 1, { ...FAILED, status: 410 }, NOW).disabled).toBeNull()
})

test('a failing webhook raises one alert at 5 min, 1 h, 24 h and 48 h each, and only the longest of those that were missed', () => {
  let { condition } = failing(5, 1)
  const raised: number[] = []
  for (let nowMs = NOW; nowMs <= NOW + 80 * HOUR; nowMs += MINUTE) {
    const after = conditionAfter(condition, 1, FAILED, nowMs)
    condition = after.condition
    if (after.alertMs === null) continue
    expect(nowMs - NOW).toBe(after.alertMs)
    raised.push(after.alertMs)
  }
  expect(raised).toEqual([5 * MINUTE, HOUR, 24 * HOUR, 48 * HOUR])
  expect(failing(6, 1, NOW + 30 * HOUR).alertMs).toBe(24 * HOUR)
  expect(failing(1, 1).alertMs).toBeNull()
})

test('the health of a webhook remembers no more than it needs, however long it fails', () => {
  expect(failing(500, 100).condition.health.failedSeqs).toEqual([1, 2, 3])
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
