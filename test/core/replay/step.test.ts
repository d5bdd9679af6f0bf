import { expect, test } from 'vitest'
import { barAt } from '#core/replay/bars.ts'
import { createEngine, initialState } from '#core/replay/engine.ts'
import { startReplay } from '#core/replay/replay.ts'
import { describePlainJsonFault } from '#core/replay/state.ts'
import { step } from '#core/replay/step.ts'
import type { Position, Strategy } from '#core/replay/strategy.ts'
import { FREE, HOUR_MS, handBars, run, scripted, slot, still } from './hand.ts'

const stepOver = (...bars: readonly { t: number; o: number; h: number; l: number; c: number }[]) => {
  const engine = createEngine({ strategy: scripted({}), costs: FREE, funding: null, ordersFromMs: 0 })
  const state = initialState(engine)
  for (const bar of bars) step(engine, state, { v: 0, ...bar })
  return state
}

const GOOD = { t: slot(0), o: 100, h: 110, l: 90, c: 105 }

test('a bar that opens later, on the grid and with a possible range is taken, after a gap too', () => {
  const state = stepOver(GOOD, { ...GOOD, t: slot(7) })
  expect(state).toMatchObject({ bars: 2, last_t: slot(7), last_close: 105 })
})

test.each([
  ['twice', { t: slot(1) }, 'later than the last bar'],
  ['before the last one', { t: slot(0) }, 'later than the last bar'],
  ['off the grid', { t: slot(2) + HOUR_MS }, 'multiple of 14400000 ms'],
  ['with a time that is none', { t: Number.NaN }, 'the bar at NaN ms'],
  ['with the open above the high', { t: slot(2), o: 111 }, '0 < low <= open, close <= high'],
  ['with the close below the low', { t: slot(2), c: 89 }, '0 < low <= open, close <= high'],
  ['with a low of 0', { t: slot(2), l: 0 }, '0 < low <= open, close <= high'],
  ['with a close that is no number', { t: slot(2), c: Number.NaN }, 'c NaN'],
  ['with an endless high', { t: slot(2), h: Number.POSITIVE_INFINITY }, 'h Infinity'],
])('a bar %s stops the run, naming strategy and bar', (_, change, sentence) => {
  const steps = () => stepOver({ ...GOOD, t: slot(1) }, { ...GOOD, ...change })
  expect(steps).toThrow('strategy alder: the bar at')
  expect(steps).toThrow(sentence)
})

test('a bar is checked after a liquidation too', () => {
  const bars = [still(100), still(100), still(111), [111, 110, 109, 110]] as const
  expect(() => run({ bars, decisions: { 0: { act: 'short', stop: 100.2 } } })).toThrow('0 < low')
})

test('an account of which the commission of an entry leaves nothing is liquidated at that entry', () => {
  const costs = { ...FREE, commission_bps_per_side: 5_000 } // of a notional of twice the account
  const bars = [still(100), [100, 110, 100, 110], still(110)] as const
  const { result, events } = run({ bars, decisions: { 0: { act: 'long', stop: 99 } }, costs })
  expect(result.state).toMatchObject({ dead: true, equity: 0, trades_closed: 1 })
  expect(events.at(-1)).toMatchObject({ kind: 'closed', t: slot(1) })
})

test.each([
  ['a long with its stop above the close', { act: 'long', stop: 101 }],
  ['a long with its stop at the close', { act: 'long', stop: 100 }],
  ['a long with its stop at 0', { act: 'long', stop: 0 }],
  ['a short with its stop below the close', { act: 'short', stop: 99 }],
  ['a short with its stop at the close', { act: 'short', stop: 100 }],
  ['a stop that is no number', { act: 'long', stop: Number.NaN }],
  ['an endless stop', { act: 'short', stop: Number.POSITIVE_INFINITY }],
  ['no stop at all', { act: 'long' }],
  ['an unknown act', { act: 'buy', stop: 90 }],
  ['a flat without a reason', { act: 'flat' }],
  ['a flat for an unknown reason', { act: 'flat', why: 'target' }],
  ['a word', 'long'],
  ['an entry with a limit', { act: 'long', stop: 90, limit: 99 }],
  ['a flat with a size', { act: 'flat', why: 'signal', size: 0.5 }],
])('an invalid decision (%s) stops the run, naming strategy and bar', (_, decision) => {
  const decide = () => run({ bars: [still(100)], decisions: { 0: decision } })
  expect(decide).toThrow('strategy alder: at the bar of 2020-01-01T00:00:00Z it decided')
})

test('an invalid decision stops the run in the warm-up and before the inception too', () => {
  const strategy = scripted({ 0: { act: 'long', stop: 101 } }, { warmupBars: 5 })
  expect(() => run({ bars: [still(100)], strategy })).toThrow('below the close')
})

test('the warm-up takes no decision on the first `warmupBars` bars, and the one after it', () => {
  const long = { act: 'long', stop: 90 }
  const strategy = scripted({ 0: long, 1: long, 2: long }, { warmupBars: 2 })
  const { result, events } = run({ bars: [still(100), still(100), still(100), still(100)], strategy })
  expect(events.map(({ kind, t }) => `${kind} ${t}`)).toEqual([`ordered ${slot(2)}`, `opened ${slot(3)}`])
  expect(result.state.decisions_ignored).toBe(0)
})

test('the strategy sees its position without size, leverage or equity', () => {
  const seen: (Position | null)[] = []
  const onBar: Strategy['onBar'] = (_, { t }, position) => {
    seen.push(position)
    return t === slot(0) ? { act: 'long', stop: 90 } : null
  }
  const bars = handBars([still(100), still(105), still(105)])
  const { engine, state } = startReplay({
    strategy: scripted({}, { onBar }),
    bars,
    funding: null,
    costs: FREE,
  })
  for (let i = 0; i < 3; i++) step(engine, state, barAt(bars, i))
  const position = { side: 'long', entry_time: slot(1), entry_price: 105, stop: 90 }
  expect(seen).toEqual([null, position, position])
})

test.each([
  ['a typed array', { window: new Float64Array(2) }, '.window is a Float64Array'],
  ['a NaN', { sum: Number.NaN }, '.sum is NaN'],
  ['undefined', { last: undefined }, '.last is undefined'],
  ['a function', [() => 1], '[0] is a function'],
  ['a Map', { a: [{ b: new Map() }] }, '.a[0].b is a Map'],
])('a state with %s would not survive JSON', (_, own, fault) => {
  expect(describePlainJsonFault(own)).toBe(`the state${fault}`)
})

test.each([
  ['baseRisk', { baseRisk: 0 }],
  ['baseRisk', { baseRisk: 1 }],
  ['baseRisk', { baseRisk: Number.NaN }],
  ['warmupBars', { warmupBars: -1 }],
  ['warmupBars', { warmupBars: 1.5 }],
])('an engine is refused if %s is invalid', (name, overrides) => {
  const make = () =>
    createEngine({ strategy: scripted({}, overrides), costs: FREE, funding: null, ordersFromMs: 0 })
  expect(make).toThrow(`strategy alder: ${name}`)
})
