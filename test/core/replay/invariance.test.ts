import { expect, test } from 'vitest'
import { type Bars, barAt, sliceBars } from '#core/replay/bars.ts'
import { digestText } from '#core/replay/digest.ts'
import type { StepEvent } from '#core/replay/events.ts'
import {
  addNoise,
  decideBeside,
  decisionsOf,
  describeDecisionDifference,
  describeEventDifference,
  firstOwnBar,
} from '#core/replay/invariance.ts'
import { type ReplayInput, startReplay } from '#core/replay/replay.ts'
import { step } from '#core/replay/step.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { SAMPLE_COSTS } from '#pipeline/sample/write-sample-book.ts'
import { NO_SHARED_DATA } from '../../support/shared-data.ts'
import { HOUR_MS, handBars, handFunding, record, scripted, slot, still } from './hand.ts'
import { realBars } from './real-bars.ts'
import { REFERENCE } from './strategies.ts'
import { syntheticBars } from './synthetic-bars.ts'

const inputOn = (bars: Bars, strategy: Strategy<unknown>): ReplayInput => ({
  strategy,
  bars,
  funding: handFunding([slot(900), 1e-4], [slot(1800) + HOUR_MS, -2e-4]),
  costs: SAMPLE_COSTS,
})

/** The events and the last state of a run whose state goes through JSON every `every` bars. */
function runSaved(input: ReplayInput, every: number) {
  const started = startReplay(input)
  let { state } = started
  const events: StepEvent[] = []
  for (const i of input.bars.t.keys()) {
    if (i % every === 0) state = JSON.parse(JSON.stringify(state))
    events.push(...step(started.engine, state, barAt(input.bars, i)))
  }
  return { events, state }
}

const CASES = [
  { kind: 'synthetic', bars: syntheticBars(5_000), longest: 1_500, every: 1 },
  { kind: 'real', bars: realBars, longest: 20_000, every: 97 },
].flatMap(market => REFERENCE.map(([name, strategy]) => ({ ...market, name, strategy })))

test.for(CASES)(
  'the state of $name is plain JSON and loses nothing when it is saved, on $kind bars',
  ({ bars, longest, every, strategy }, { skip }) => {
    if (bars === null) return skip(NO_SHARED_DATA)
    const input = inputOn(sliceBars(bars, 0, longest), strategy)
    const [whole, saved] = [record(input), runSaved(input, every)]
    expect(describeEventDifference(whole.events, saved.events)).toBeNull()
    expect(saved.state).toEqual(whole.result.state)
  },
)

test.for(CASES)(
  '$name decides the same wherever it begins, once it has forgotten its start, on $kind bars',
  ({ bars, strategy }, { skip }) => {
    if (bars === null) return skip(NO_SHARED_DATA)
    const { events, result } = record(inputOn(bars, strategy))
    for (const start of [200, 1_000]) {
      const late = sliceBars(bars, start, bars.t.length)
      const from = firstOwnBar(late, result.trades, late.t[2 * strategy.warmupBars]!)!
      const decided = decideBeside(strategy, late, result.trades)
      expect(decided.filter(({ t }) => t >= from).length).toBeGreaterThan(5)
      expect(describeDecisionDifference(decisionsOf(events), decided, from)).toBeNull()
    }
  },
)

const LONG = { kind: 'ordered', t: slot(3), act: 'long', price: 100, stop: 90, leverage: 1 } as const

test('a difference of events names the first bar that differs, also if one of the two has no event', () => {
  const later = { ...LONG, t: slot(9) }
  expect(describeEventDifference([LONG, later], [LONG, later])).toBeNull()
  expect(describeEventDifference([LONG], [LONG, later])).toBe(
    'the first bar that differs is that of 2020-01-02T12:00:00Z',
  )
  expect(describeEventDifference([{ ...LONG, stop: 91 }], [LONG])).toContain('2020-01-01T12:00:00Z')
})

const bars = handBars(Array.from({ length: 120 }, () => still(100)))
const ENTER = { act: 'long', stop: 50 } as const
const FLAT = { act: 'flat', why: 'time' } as const

/** The first difference of a run that begins at this slot, compared from `from` on. */
function difference(onBar: Strategy['onBar'], start: number, from: number, init = (): unknown => ({})) {
  const strategy = scripted({}, { onBar, init })
  const { events, result } = record({ ...inputOn(bars, strategy), funding: null })
  const late = sliceBars(bars, start, bars.t.length)
  return describeDecisionDifference(
    decisionsOf(events),
    decideBeside(strategy, late, result.trades),
    firstOwnBar(late, result.trades, slot(from))!,
  )
}

test('the decisions of a late start are those of the whole run if the rule depends on the calendar', () => {
  const phase = (t: number): number => Math.floor(t / bars.timeframeMs) % 20
  const calendar: Strategy['onBar'] = (_, { t }) => (phase(t) === 0 ? ENTER : phase(t) === 10 ? FLAT : null)
  expect(difference(calendar, 20, 20)).toBeNull()
  expect(difference(calendar, 12, 12)).toBeNull()
})

test('the decisions of a late start differ if the rule counts its bars', () => {
  const counting: Strategy['onBar'] = (state, _, position) => {
    if ((state as { bars: number }).bars++ % 10 !== 0) return null
    return position === null ? ENTER : FLAT
  }
  expect(difference(counting, 15, 15, () => ({ bars: 0 }))).toMatch(
    /^the first bar that differs is that of 2020-01-0/,
  )
})

test('the decisions of a late start are compared from the first bar that is in no trade begun before', () => {
  const [entry, exit] = [slot(10), slot(30)]
  const costs = { fees: null, funding: null }
  const trade = { side: 'long', entry_time: entry, exit_time: exit, stop: 50, ...costs } as const
  const trades = [
    { ...trade, entry_price: 100, exit_price: 100, exit_reason: 'time', leverage: 1, account_return: 0 },
  ] as const
  expect(firstOwnBar(bars, trades, slot(5))).toBe(slot(5))
  expect(firstOwnBar(bars, trades, slot(10))).toBe(slot(10))
  expect(firstOwnBar(bars, trades, slot(11))).toBe(exit)
  expect(firstOwnBar(sliceBars(bars, 0, 20), trades, slot(11))).toBeNull()
})

test('noise continues the bars with possible ones, whose wicks are 2 % at most', () => {
  const bars = syntheticBars(50)
  const end = bars.t.length // less than 50 by an outage
  let i = 0
  const noisy = addNoise(bars, 100, () => ((++i * 0.618) % 1) * 0.998 + 0.001)
  expect(sliceBars(noisy, 0, end)).toEqual(bars)
  for (let j = end; j < end + 100; j++) {
    const { t, o, h, l, c } = barAt(noisy, j)
    expect(t).toBe(noisy.t[j - 1]! + bars.timeframeMs)
    const [low, high] = [Math.min(o, c), Math.max(o, c)]
    expect(low / 1.02 <= l && l <= low && high <= h && h <= high * 1.02).toBe(true)
  }
})

test('a digest has the published values of FNV-1a', () => {
  expect(digestText('')).toBe('cbf29ce484222325')
  expect(digestText('a')).toBe('af63dc4c8601ec8c')
  expect(digestText('foobar')).toBe('85944171f73967e8')
  expect(digestText('\uffff')).toBe('b01d724c873d466e') // by its definition, of one unit
})

test('a digest depends on the last bit of a number', () => {
  expect(digestText(JSON.stringify([0.1 + 0.2]))).not.toBe(digestText(JSON.stringify([0.3])))
})
