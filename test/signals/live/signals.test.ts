// From the steps of the engine to signals: which, with what in them, and in which mode.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SignalContent } from '#core/contract/signal.ts'
import { lateAfterMs } from '#signals/live/live-record.ts'
import { signalId, signalsOf } from '#signals/live/signals-of.ts'
import { forAll, forAllInTurn } from '#test/support/for-all.ts'
import { arbitraryBars, arbitraryCosts, arbitraryStrategy } from '../../core/replay/arbitraries.ts'
import { handBars, type Ohlc, scripted, slot, still, TIMEFRAME_MS } from '../../core/replay/hand.ts'
import { liveStrategy, reportsOf } from './live-kit.ts'

const SENDER = { alias: 'alder', timeframeMs: TIMEFRAME_MS, baseRisk: 0.02, tickSize: 0.1 }

/** The signals of a script, by slot. */
function signalsIn(
  rows: readonly Ohlc[],
  decisions: Readonly<Record<number, unknown>>,
  tickSize = 0.1,
): SignalContent[] {
  const reports = reportsOf({ strategy: scripted(decisions), bars: handBars(rows) })
  return reports.flatMap(report => signalsOf(report, { ...SENDER, tickSize }))
}

const outline = ({ action, signal_price, stop, timestamp, why }: SignalContent) => [
  action,
  signal_price,
  stop,
  timestamp,
  ...(why === undefined ? [] : [why]),
]

test('a step gives an entry at the close that decided it, with the leverage that its stop implies', () => {
  expect(signalsIn(Array(8).fill(still(100)), { 6: { act: 'long', stop: 96 } })).toEqual([
    {
      ...{ signal_id: signalId('alder', slot(7), 'long'), timestamp: '2020-01-02T04:00:00Z' },
      ...{ alias: 'alder', mode: 'LIVE', is_test: false, action: 'long', by: 'strategy' },
      ...{ signal_price: 100, stop: 96, base_risk_pct: 0.02, implied_leverage: 0.5 },
    },
  ])
})

test.each([
  [0.1, 100.25, 96.04, 97.0000001, [100.3, 96, 97]],
  [0.25, 100.25, 96.04, 97.13, [100.25, 96, 97.25]],
  [5, 100, 96.04, 92.6, [100, 95, 95]],
  [0, 100.25, 96.04, 97.123456789, [100.25, 96.04, 97.12345679]],
])(
  'a step gives signals with prices on the tick of %d',
  (tick, close, longStop, next, [price, first, second]) => {
    const rows: Ohlc[] = Array(10).fill(still(close))
    const signals = signalsIn(rows, { 6: { act: 'long', stop: longStop } }, tick)
    expect(signals.map(outline)).toEqual([['long', price, first, '2020-01-02T04:00:00Z']])
    expect(signals[0]?.implied_leverage).toBeCloseTo((0.02 * price!) / (price! - first!), 6)
    const moved = signalsIn(rows, { 6: { act: 'long', stop: next }, 8: { act: 'flat', why: 'time' } }, tick)
    expect(moved.at(-1)).toMatchObject({ action: 'flat', signal_price: price, stop: second, why: 'time' })
  },
)

test('a step gives prices off a tick that is too coarse to distinguish the stop from the close', () => {
  const signals = signalsIn(Array(8).fill(still(0.43)), { 6: { act: 'long', stop: 0.42 } }, 0.1)
  expect(signals).toMatchObject([{ signal_price: 0.43, stop: 0.42, implied_leverage: 0.86 }])
})

test('a step gives a flat for an exit that was decided, with the cause that the rules gave, the stop in force and nothing at risk, and none again for its fill', () => {
  const signals = signalsIn(Array(10).fill(still(100)), {
    6: { act: 'long', stop: 96 },
    8: { act: 'flat', why: 'signal' },
  })
  expect(signals.map(({ action, why }) => `${action} ${why}`)).toEqual(['long undefined', 'flat signal'])
  expect(signals[1]).toMatchObject({ stop: 96, base_risk_pct: 0, implied_leverage: 0, signal_price: 100 })
})

test('a step gives a flat and then the new side for a reversal, and for a stop-out that is entered again', () => {
  const reversal = signalsIn(Array(10).fill(still(100)), {
    6: { act: 'long', stop: 96 },
    8: { act: 'short', stop: 110 },
  })
  expect(reversal.map(outline).slice(1)).toEqual([
    ['flat', 100, 96, '2020-01-02T12:00:00Z', 'signal'],
    ['short', 100, 110, '2020-01-02T12:00:00Z'],
  ])
  const rows: Ohlc[] = [...Array(8).fill(still(100)), [100, 100, 90, 99], still(99)]
  const again = signalsIn(rows, { 6: { act: 'long', stop: 96 }, 8: { act: 'long', stop: 95 } })
  expect(again.map(outline).slice(1)).toEqual([
    ['flat', 99, 96, '2020-01-02T12:00:00Z', 'stop'],
    ['long', 99, 95, '2020-01-02T12:00:00Z'],
  ])
})

test('a step gives a flat alone if the new side is over the leverage cap', () => {
  const signals = signalsIn(Array(10).fill(still(100)), {
    6: { act: 'long', stop: 96 },
    8: { act: 'short', stop: 100.001 },
  })
  expect(signals.map(({ action }) => action)).toEqual(['long', 'flat'])
})

test('a step gives a flat for an entry that ruin kept from being filled, and says that it is the end', () => {
  // The long is ruined at the open that should have turned it into a short: nobody holds the short.
  const rows: Ohlc[] = [...Array(9).fill(still(100)), still(10), still(10)]
  const signals = signalsIn(rows, { 6: { act: 'long', stop: 98.5 }, 8: { act: 'short', stop: 110 } })
  expect(signals.map(outline)).toEqual([
    ['long', 100, 98.5, '2020-01-02T04:00:00Z'],
    ['flat', 100, 98.5, '2020-01-02T12:00:00Z', 'signal'],
    ['short', 100, 110, '2020-01-02T12:00:00Z'],
    ['flat', 10, 110, '2020-01-02T16:00:00Z', 'end'],
  ])
})

test('the signals of any strategy alternate between an entry and its flat, have ids of their own, and stops on the right side', () => {
  forAll(arbitraryBars, arbitraryStrategy, arbitraryCosts, (bars, strategy, costs) => {
    const signals = reportsOf({ strategy, bars, costs }).flatMap(report =>
      signalsOf(report, { ...SENDER, tickSize: costs.tick_size }),
    )
    expect(signals.map(({ action }) => action === 'flat')).toEqual(signals.map((_, i) => i % 2 === 1))
    expect(new Set(signals.map(({ signal_id }) => signal_id)).size).toBe(signals.length)
    for (const { action, signal_price, stop, base_risk_pct, implied_leverage } of signals) {
      if (action === 'flat') continue
      expect(action === 'long' ? signal_price - stop : stop - signal_price).toBeGreaterThan(0)
      expect(implied_leverage).toBeCloseTo(base_risk_pct / (Math.abs(signal_price - stop) / signal_price), 6)
    }
  })
})

test('the signals of any strategy are the same bar by bar, through JSON, as those of the replay at once', async () => {
  await forAllInTurn(
    60,
    arbitraryBars,
    arbitraryStrategy,
    arbitraryCosts,
    fc.nat(100),
    async (bars, strategy, costs, at) => {
      const from = Math.max(1, Math.floor((at / 100) * bars.t.length))
      const rules = { strategy, bars, costs }
      const sender = { ...SENDER, tickSize: costs.tick_size }
      const live = liveStrategy(rules)
      const all = reportsOf(rules)
      let state = await live.replay({ ...bars, t: bars.t.subarray(0, from) })
      for (const { bar } of all.slice(from)) {
        const stepped = await live.step(state, bar)
        state = stepped.state
        const atOnce = all.find(report => report.bar.t === bar.t)!
        expect(signalsOf(stepped.report, sender)).toEqual(signalsOf(atOnce, sender))
      }
    },
  )
})

test('the id of a signal has no price in it, and differs by alias, bar and action', () => {
  expect(signalId('alder', 1_600_000_000_000, 'long')).toMatch(/^sig_[0-9a-f]{24}$/)
  const ids = [signalId('alder', 1, 'long'), signalId('birch', 1, 'long'), signalId('alder', 2, 'long')]
  expect(new Set([...ids, signalId('alder', 1, 'short')]).size).toBe(4)
})

test('a signal is late after a quarter of a bar, and after five minutes at the most', () => {
  expect(lateAfterMs(60_000)).toBe(15_000)
  expect(lateAfterMs(4 * 3_600_000)).toBe(300_000)
})
