import { describe, expect, test } from 'vitest'
import { type Bars, sliceBars } from '#core/replay/bars.ts'
import {
  checkCheckpoints,
  checkDeterminism,
  checkPrefixes,
  findStartAgreement,
} from '#core/replay/invariance.ts'
import type { ReplayInput } from '#core/replay/replay.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { HOUR_MS, handBars, handFunding, scripted, slot, still } from './hand.ts'
import { realBars } from './real-bars.ts'
import { REFERENCE } from './strategies.ts'
import { syntheticBars } from './synthetic-bars.ts'

const COSTS = { commission_bps_per_side: 5, slippage_ticks: 2, tick_size: 0.1, max_leverage: 15 }
const SYNTHETIC = syntheticBars(5_000)

const inputOn = (bars: Bars, strategy: Strategy<unknown>): ReplayInput<unknown> => ({
  strategy,
  bars,
  funding: handFunding([slot(900), 1e-4], [slot(1800) + HOUR_MS, -2e-4]),
  costs: COSTS,
})

// A checkpoint costs much more than the bar itself: at every bar on a short history, now and then on the long
// one.
describe.each([
  { kind: 'synthetic', bars: SYNTHETIC, longest: 1_500, every: 1 },
  { kind: 'real', bars: realBars, longest: 20_000, every: 97 },
])('on $kind bars', ({ bars, longest, every }) => {
  describe.skipIf(bars === null).each(REFERENCE)('%s', (_, strategy) => {
    const input = () => inputOn(bars!, strategy)

    test('does not look ahead: a prefix of the bars gives the prefix of the history', () => {
      expect(checkPrefixes(input(), 12)).toBeNull()
    })

    test('is the same twice', () => {
      expect(checkDeterminism(input())).toBeNull()
    })

    test('loses nothing at a checkpoint', () => {
      const short = { ...input(), bars: sliceBars(bars!, 0, longest) }
      expect(checkCheckpoints(short, every)).toBeNull()
    })

    test.each([200, 1_000, 2_500])('does not depend on the start of its history, here at bar %d', start => {
      const agreement = findStartAgreement(input(), start)
      // Its warm-up, and the trade that straddles the end of it: momentum may hold one for half a year.
      expect(agreement).not.toBeNull()
      expect(agreement).toBeLessThan(strategy.warmupBars + 1_100)
    })
  })
})

describe('the checks find', () => {
  const bars = syntheticBars(600)
  const input = (overrides: Partial<Strategy<unknown>>): ReplayInput<unknown> => ({
    ...inputOn(bars, scripted({}, overrides)),
    funding: null,
  })
  const LONG = (close: number) => ({ act: 'long', stop: close * 0.9 }) as const

  test('a module that looks ahead: it remembers the last bar of the longest run so far', () => {
    let lastBar = 0
    const peeking = input({
      onBar: (_, bar) => {
        const isEnd = bar.t >= lastBar
        lastBar = Math.max(lastBar, bar.t)
        return isEnd && bar.t > slot(300) ? LONG(bar.c) : null
      },
    })
    expect(checkPrefixes(peeking, 3)).not.toBeNull()
  })

  test('a module that remembers between runs', () => {
    let runs = 0
    const counting = input({
      init: () => ({ run: runs++ }),
      onBar: (state, bar) =>
        (state as { run: number }).run === 0 && bar.t === slot(50) ? LONG(bar.c) : null,
    })
    expect(checkDeterminism(counting)).not.toBeNull()
  })

  test('a module that keeps part of its state outside the state', () => {
    const hidden = new WeakMap<object, number>()
    const forgetful = input({
      onBar: (state, bar) => {
        const seen = (hidden.get(state as object) ?? 0) + 1
        hidden.set(state as object, seen)
        return seen === 100 ? LONG(bar.c) : null
      },
    })
    expect(checkCheckpoints(forgetful, 600)).toBeNull()
    expect(checkCheckpoints(forgetful, 7)).not.toBeNull()
  })

  test('a state that JSON can no longer represent', () => {
    const dividing = input({
      init: () => ({ ratio: 1 }),
      onBar: (state, bar) => {
        ;(state as { ratio: number }).ratio = bar.t === slot(3) ? Number.NaN : 1
        return null
      },
    })
    expect(checkCheckpoints(dividing, 1)).toBe(
      'after the bar at 2020-01-01T12:00:00Z, the state.ratio is NaN',
    )
  })
})

describe('the start agreement', () => {
  // The price stands still, so that only the rule makes a difference; slot 8 is a multiple of 20 timeframes.
  const bars = handBars(Array.from({ length: 120 }, () => still(100)))
  const LONG = { act: 'long', stop: 50 } as const
  const FLAT = { act: 'flat', why: 'time' } as const
  const input = (overrides: Partial<Strategy<unknown>>): ReplayInput<unknown> => ({
    ...inputOn(bars, scripted({}, overrides)),
    funding: null,
  })
  const phase = (t: number): number => Math.floor(t / bars.timeframeMs) % 20
  const calendar = input({ onBar: (_, { t }) => (phase(t) === 0 ? LONG : phase(t) === 10 ? FLAT : null) })

  test('is immediate if both are flat at the start and the rule depends on the calendar', () => {
    expect(findStartAgreement(calendar, 20)).toBe(0)
  })

  test('comes with the end of the trade that straddles the start: at slot 19, seven bars after', () => {
    expect(findStartAgreement(calendar, 12)).toBe(8)
  })

  test('comes only after the last order for a module that counts its bars', () => {
    const counting = input({
      init: () => ({ bar: 0 }),
      onBar: (state, _, position) => {
        const count = (state as { bar: number }).bar++
        if (count % 10 !== 0) return null
        return position === null ? LONG : FLAT
      },
    })
    // Counted from slot 15, the last exit is ordered at slot 115 and filled at 116, of 119.
    expect(findStartAgreement(counting, 15)).toBe(102)
  })

  test('never comes if one holds a position to the end that the other never took', () => {
    const once = input({ onBar: (_, { t }) => (t === slot(8) ? LONG : null) })
    expect(findStartAgreement(once, 20)).toBeNull()
  })
})
