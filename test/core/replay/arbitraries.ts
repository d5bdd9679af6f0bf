import fc from 'fast-check'
import type { Bars, Funding } from '#core/replay/bars.ts'
import type { ReplayInput } from '#core/replay/replay.ts'
import type { Bar, Decision, Strategy } from '#core/replay/strategy.ts'
import type { Costs } from '#core/replay/trade.ts'
import { HOUR_MS, handBars, handFunding, type Ohlc, START_MS, scripted, TIMEFRAME_MS } from './hand.ts'

// fc.double spreads over the exponents, so nearly all of its values are tiny; these spread over the range.
const fraction = (most: number) => fc.integer({ min: 0, max: 1000 }).map(part => (part / 1000) * most)
const signed = (most: number) => fc.integer({ min: -1000, max: 1000 }).map(part => (part / 1000) * most)

const move = fc.record({ gap: signed(0.03), body: signed(0.05), up: fraction(0.03), down: fraction(0.03) })
const crash = fc.record({ gap: signed(0.4), body: signed(0.4), up: fraction(0.1), down: fraction(0.1) })
const outage = fc.integer({ min: 1, max: 12 })

/** Bars of a jumpy walk from 100: gaps between the bars, wicks, crashes, and outages of up to two days. */
export const arbitraryBars: fc.Arbitrary<Bars> = fc
  .array(
    fc.oneof(
      { arbitrary: move, weight: 20 },
      { arbitrary: crash, weight: 1 },
      { arbitrary: outage, weight: 1 },
    ),
    { minLength: 30, maxLength: 150, size: 'max' },
  )
  .map(parts => handBars(toRows(parts)))

function toRows(parts: readonly (number | { gap: number; body: number; up: number; down: number })[]) {
  const rows: (Ohlc | null)[] = [[100, 100, 100, 100]]
  let close = 100
  for (const part of parts) {
    if (typeof part === 'number') {
      rows.push(...new Array<null>(part).fill(null))
      continue
    }
    // Never so low that a few ticks of slippage would be more than the price.
    const open = Math.max(10, close * (1 + part.gap))
    close = open * (1 + part.body)
    rows.push([open, Math.max(open, close) * (1 + part.up), Math.min(open, close) * (1 - part.down), close])
  }
  // The series ends with a bar, and holds at least one whole day.
  return rows.concat([[close, close, close, close]])
}

/** Funding on the grid, off it, and in the outages. */
export const arbitraryFunding: fc.Arbitrary<Funding | null> = fc.option(
  fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 1200 }), signed(0.01)), {
      selector: ([hour]) => hour,
      maxLength: 100,
      size: 'max',
    })
    .map(events => events.toSorted(([a], [b]) => a - b))
    .map(events => handFunding(...events.map(([hour, rate]) => [START_MS + hour * HOUR_MS, rate] as const))),
)

export const arbitraryCosts: fc.Arbitrary<Costs> = fc.record({
  commission_bps_per_side: fraction(20),
  slippage_ticks: fc.integer({ min: 0, max: 5 }),
  tick_size: fc.constantFrom(0.01, 0.1),
  max_leverage: fc.constantFrom(3, 15),
})

type Wish = { readonly act: 'long' | 'short' | 'flat'; readonly distance: number } | null

/** A strategy that wishes at random, by the slot of the bar; its stops are from 0.1 % to 20 % away. */
export const arbitraryStrategy: fc.Arbitrary<Strategy<unknown>> = fc
  .array(
    fc.option(
      fc.record({
        act: fc.constantFrom('long' as const, 'short' as const, 'flat' as const),
        distance: fc.oneof(
          fc.constantFrom(0.001, 0.0014, 0.003),
          fraction(0.2).map(part => part + 0.002),
        ),
      }),
      { freq: 3 },
    ),
    { minLength: 1, maxLength: 200, size: 'max' },
  )
  .map(wishes => scripted({}, { onBar: (_, bar) => decide(wishes, bar) }))

function decide(wishes: readonly Wish[], bar: Bar): Decision {
  const wish = wishes[((bar.t - START_MS) / TIMEFRAME_MS) % wishes.length] ?? null
  if (wish === null) return null
  if (wish.act === 'flat') return { act: 'flat', why: wish.distance > 0.1 ? 'time' : 'signal' }
  return { act: wish.act, stop: bar.c * (wish.act === 'long' ? 1 - wish.distance : 1 + wish.distance) }
}

/** All that a replay needs. */
export const arbitraryInput: fc.Arbitrary<ReplayInput> = fc.record({
  strategy: arbitraryStrategy,
  bars: arbitraryBars,
  funding: arbitraryFunding,
  costs: arbitraryCosts,
})
