import { expect, test } from 'vitest'
import { barAt, type Funding } from '#core/replay/bars.ts'
import { initialState } from '#core/replay/engine.ts'
import { startReplay } from '#core/replay/replay.ts'
import { step } from '#core/replay/step.ts'
import { FREE, HOUR_MS, handBars, handFunding, run, scripted, slot, still } from './hand.ts'

const LONG = { act: 'long', stop: 90 }
const FLAT = { act: 'flat', why: 'signal' }

// Long 0.002 from slot 1 to the open of slot 3; closes 100, 110, 120, 120. What one event takes from the
// account:
const paid = (funding: Funding, side: 'long' | 'short' = 'long'): number => {
  const stop = side === 'long' ? 90 : 110
  const flat = [still(100), still(100), still(100), still(100)]
  const up = [still(100), [100, 110, 100, 110], [110, 120, 110, 120], still(120)] as const
  const script = { bars: side === 'long' ? up : flat, decisions: { 0: { act: side, stop }, 2: FLAT } }
  const without = run(script).result.equity.at(-1)!
  return without - run({ ...script, funding }).result.equity.at(-1)!
}

test.each([
  // The last close at slot 2 is 110, at slot 3 it is 120.
  ['is charged to the position carried in: quantity x the close before x rate', [slot(2)], 0.0022],
  ['is not charged at the open of the entry', [slot(1)], 0],
  ['is charged at the open of the exit', [slot(3)], 0.0024],
  ['is not charged before the entry and after the exit', [slot(0), slot(3) + HOUR_MS], 0],
  // An hour into bar 1 its close of 110 is not known yet.
  ['inside a bar is charged at the close that was known when it was due', [slot(1) + HOUR_MS], 0.002],
  ['inside a later bar is charged at the close before that bar', [slot(2) + HOUR_MS], 0.0022],
  ['is charged for each of several events between two bars', [slot(1) + HOUR_MS, slot(2)], 0.0042],
])('funding of a long %s', (_, times, expected) => {
  expect(paid(handFunding(...times.map(t => [t, 0.01] as const)))).toBeCloseTo(expected, 14)
})

test('funding is received by a short if the rate is positive', () => {
  expect(paid(handFunding([slot(2), 0.01]), 'short')).toBeCloseTo(-0.002, 14)
})

test('funding in a gap is charged once, at the first bar after it, to the position carried in', () => {
  const script = { bars: [still(100), still(100), null, null, still(100)], decisions: { 0: LONG } }
  const funding = handFunding([slot(2), 0.01], [slot(3) + HOUR_MS, 0.02])
  expect(1 - run({ ...script, funding }).result.equity.at(-1)!).toBeCloseTo(0.002 * 100 * 0.03, 14)
})

test('funding is charged to a position that is stopped out in that bar: it was carried in', () => {
  const script = { bars: [still(100), still(100), [100, 100, 85, 95] as const], decisions: { 0: LONG } }
  const { trades } = run({ ...script, funding: handFunding([slot(2), 0.01]) }).result
  expect(trades[0]!.account_return).toBeCloseTo(-0.022, 14)
})

test('funding is in the account return of the trade, and so in the equity after it', () => {
  const { result } = run({
    bars: [still(100), still(100), still(100), still(100)],
    decisions: { 0: LONG, 2: FLAT },
    funding: handFunding([slot(2), 0.01]),
  })
  expect(result.trades[0]!.account_return).toBeCloseTo(-0.002, 15)
  expect(result.equity.at(-1)).toBeCloseTo(0.998, 15)
})

test('funding does not depend on earlier runs of an engine: a second run charges the same', () => {
  const bars = handBars([still(100), still(100), still(110), still(120)])
  const funding = handFunding([slot(2), 0.01], [slot(3), 0.01])
  const { engine, state } = startReplay({ strategy: scripted({ 0: LONG }), bars, funding, costs: FREE })
  const again = initialState(engine)
  for (let i = 0; i < 4; i++) step(engine, state, barAt(bars, i))
  for (let i = 0; i < 4; i++) step(engine, again, barAt(bars, i))
  expect(again).toEqual(state)
  expect(state.cash).toBeCloseTo(1 - 0.002 * (100 + 110) * 0.01, 14)
})

test.each([
  ['is not ascending', handFunding([slot(2), 0.01], [slot(1), 0.01]), 1],
  ['has a time twice', handFunding([slot(2), 0.01], [slot(2), 0.01]), 1],
  ['has a rate that is no number', handFunding([slot(2), Number.NaN]), 0],
])('a funding feed that %s stops the run, naming the row', (_, funding, row) => {
  expect(() => run({ bars: [still(100)], decisions: {}, funding })).toThrow(
    `strategy alder: funding row ${row}`,
  )
})
