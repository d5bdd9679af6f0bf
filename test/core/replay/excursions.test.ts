// How far prices went against trades and for them: against a hand, by laws, and never for single trades.
import { expect, test } from 'vitest'
import { excursionFigures } from '#core/figures/execution.ts'
import { excursionsOf } from '#core/replay/execution.ts'
import { markLedger } from '#core/replay/marks.ts'
import { replay } from '#core/replay/replay.ts'
import type { Trade } from '#core/replay/trade.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { arbitraryInput } from './arbitraries.ts'
import { HOUR_MS, handBars, mark, type Ohlc, slot, still, trade } from './hand.ts'

const BASE_RISK = 0.02

const ROWS: readonly Ohlc[] = [
  ...[still(100), [100, 105, 98, 102] as const, [102, 112, 96, 110] as const],
  ...[[110, 130, 80, 100] as const, still(100), still(100)],
]
const bars = handBars(ROWS)

const excursions = (...trades: readonly Trade[]) =>
  excursionsOf(mark(trades, { bars: ROWS, baseRisk: BASE_RISK }).trades, bars, BASE_RISK)

// Leverage 0.5 on a risk of 0.02: one R is 4 % of the price.
const long = trade({ leverage: 0.5 })
const inside = { ...long, entry_time: slot(1) + HOUR_MS, exit_time: slot(1) + 2 * HOUR_MS }
const open = trade({ leverage: 1, exit_time: null, exit_price: null, exit_reason: null })
const UNKNOWN = trade({ account_return: 0.001, exit_price: 100 })

test.each(casesOf<[string, Trade[], object[] | null]>`
of a long is in R, over the whole bars from the entry up to the exit, whose bar does not count -> ${[long]} -> ${[{ adverse: -1, favourable: 3 }]}
of a short is the other way around -> ${[{ ...long, side: 'short' }]} -> ${[{ adverse: -3, favourable: 1 }]}
of a trade inside a bar is that of its two prices -> ${[inside]} -> ${[{ adverse: 0, favourable: 2.5 }]}
of a trade that begins inside a bar has that bar in it -> ${[{ ...inside, exit_time: slot(3) }]} -> ${[{ adverse: -1, favourable: 3 }]}
of an open trade is none -> ${[open]} -> ${[]}
of any trade of a ledger with one unknown leverage is unknown -> ${[trade({ leverage: 1 }), UNKNOWN]} -> ${null}`)(
  'the excursion %s',
  (_, trades, expected) => {
    expect(excursions(...trades)).toEqual(near(expected, 1e-12))
  },
)

test('an excursion is at most 0 against and at least 0 for, and spans the result before costs', () => {
  forAll(200, arbitraryInput, input => {
    const { strategy, bars: market } = input
    const { trades } = replay(input)
    const marks = markLedger({ ...input, id: 'alder', trades, baseRisk: strategy.baseRisk })
    const closed = marks.trades.filter(({ exit_time }) => exit_time !== null)
    const all = excursionsOf(marks.trades, market, strategy.baseRisk)!
    expect(all).toHaveLength(closed.length)
    all.forEach(({ adverse, favourable }, i) => {
      const { side, entry_price, exit_price, leverage } = closed[i]!
      const move = (exit_price! / entry_price - 1) * (side === 'long' ? 1 : -1)
      const inR = (move * leverage!) / strategy.baseRisk
      expect(adverse).toBeLessThanOrEqual(0)
      expect(favourable).toBeGreaterThanOrEqual(0)
      expect(inR).toBeGreaterThanOrEqual(adverse - 1e-12)
      expect(inR).toBeLessThanOrEqual(favourable + 1e-12)
    })
  })
})

const ladder = (length: number) =>
  Array.from({ length }, (_, i) => ({ adverse: -(i % length), favourable: 2 * (i % length) }))

test('the distributions of excursions are those of a sorted list: of 0 to 20, each fraction of 20', () => {
  const shuffled = ladder(21).toSorted((a, b) => (a.favourable % 7) - (b.favourable % 7))
  expect(excursionFigures(shuffled)).toEqual({
    mae_r: { mean: -10, p5: -19, p25: -15, p50: -10, p75: -5, p95: -1 },
    mfe_r: { mean: 20, p5: 2, p25: 10, p50: 20, p75: 30, p95: 38 },
  })
})

test.each([
  [ladder(19), 'too_few_points'],
  [[], 'too_few_points'],
  [null, 'unknown_leverage'],
])('the distributions of excursions are undefined below 20 trades and without bars (%#)', (all, reason) => {
  const { mae_r, mfe_r } = excursionFigures(all)
  for (const figure of [...Object.values(mae_r), ...Object.values(mfe_r)]) {
    expect(figure).toEqual({ undefinedBecause: reason })
  }
})
