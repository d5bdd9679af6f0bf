import { expect, test } from 'vitest'
import type { Decision, Position, Strategy } from '#core/replay/strategy.ts'
import { donchianBreakout } from '#pipeline/sample/template/strategies/alder.ts'
import { dualMovingAverage } from '#pipeline/sample/template/strategies/birch.ts'
import { rsiReversion } from '#pipeline/sample/template/strategies/cedar.ts'
import { volatilityBreakout } from '#pipeline/sample/template/strategies/hazel.ts'
import { atrTrend } from '#pipeline/sample/template/strategies/larch.ts'
import { timeSeriesMomentum } from '#pipeline/sample/template/strategies/maple.ts'
import { enter } from '#pipeline/starter/template/strategies/highwater/indicators.ts'
import { type Ohlc, record, slot } from '../../core/replay/hand.ts'
import { REFERENCE } from '../../core/replay/strategies.ts'
import { syntheticBars } from '../../core/replay/synthetic-bars.ts'

/** What the strategy decides on each bar, if it holds this position from the bar at `heldFrom` on. */
function decisions<State>(
  strategy: Strategy<State>,
  rows: readonly Ohlc[],
  held: Position | null = null,
  heldFrom = 0,
): Decision[] {
  const state = strategy.init()
  return rows.map(([o, h, l, c], i) => {
    return strategy.onBar(state, { t: slot(i), o, h, l, c, v: 0 }, i >= heldFrom ? held : null)
  })
}

const position = (side: 'long' | 'short', i: number): Position => ({
  side,
  entry_time: slot(i),
  entry_price: 100,
  stop: side === 'long' ? 1 : 1000,
})

/** Bars with a range of 2 around a close. */
const around = (...closes: number[]): Ohlc[] => closes.map(c => [c, c + 1, c - 1, c])
const FLAT = { act: 'flat', why: 'signal' }

const donchian = donchianBreakout('alder', { entryBars: 3, exitBars: 2, atrBars: 1, stopAtrs: 2 })

test('the Donchian breakout enters on a close outside the range of the bars before, with the stop two ranges away', () => {
  // The range of the first three is 99 to 101. 101 is not outside; 105 is: true range 106 - 101 = 5, stop
  // 105 - 10.
  expect(decisions(donchian, around(100, 100, 100, 101, 105)).slice(3)).toEqual([
    ...Array(1).fill(null),
    { act: 'long', stop: 95 },
  ])
  // 95: true range 100 - 94 = 6, stop 95 + 12.
  expect(decisions(donchian, around(100, 100, 100, 95)).at(-1)).toEqual({ act: 'short', stop: 107 })
})

test('the Donchian breakout leaves on a close outside the shorter range, on the other side', () => {
  expect(decisions(donchian, around(100, 100, 100, 99), position('long', 3), 3).at(-1)).toBeNull()
  expect(decisions(donchian, around(100, 100, 100, 98.5), position('long', 3), 3).at(-1)).toEqual(FLAT)
  expect(decisions(donchian, around(100, 100, 100, 101.5), position('short', 3), 3).at(-1)).toEqual(FLAT)
})

const dual = dualMovingAverage('birch', { fastBars: 1, slowBars: 3, atrBars: 1, stopAtrs: 3 })

test('the dual moving average goes long on a cross and decides only there', () => {
  // Means of three: 98, 97, 98.33, 100.33; closes 96 (below), 97 (not above), 102 (above), 102 (still
  // above).
  const all = decisions(dual, around(100, 98, 96, 97, 102, 102))
  // The cross: true range 103 - 97 = 6, stop 102 - 18.
  expect(all).toEqual([null, null, null, null, { act: 'long', stop: 84 }, null])
})

test('the dual moving average goes short on the opposite cross', () => {
  // Mean (100 + 104 + 94) / 3 = 99.33, over 94. True range from the close before, 104 - 93 = 11: stop 94 +
  // 33.
  expect(decisions(dual, around(96, 100, 104, 94)).at(-1)).toEqual({ act: 'short', stop: 127 })
})

const rsi = rsiReversion('cedar', { trendBars: 5, exitBars: 2, atrBars: 1, longestBars: 2 })

// A gain of 60 halves with each still bar and at the last one weighs 0.47. A loss of 20 weighs 10 there:
// RSI 4.5; a loss of 1 weighs 0.5: RSI 48. The mean of the last eleven closes is 76.4 after the dip to 80,
// 78.1 after 99.
const before = [40, 40, 40, 40, 100, 100, 100, 100, 100, 100]
const last = (closes: readonly number[], trendBars = 11) =>
  decisions(rsiReversion('cedar', { trendBars, exitBars: 2, atrBars: 1, stopAtrs: 3 }), around(...closes)).at(
    -1,
  )

test('the RSI reversion buys a sharp dip in an uptrend and sells a sharp rally in a downtrend', () => {
  // True range 100 - 79 = 21: stop 80 - 63; mirrored 120 + 63.
  const dip = [...before, 80]
  expect(last(dip)).toEqual({ act: 'long', stop: 17 })
  expect(last(dip.map(close => 200 - close))).toEqual({ act: 'short', stop: 183 })
})

test('the RSI reversion leaves a dip alone that is not sharp, and one in a downtrend', () => {
  expect(last([...before, 99])).toBeNull()
  // The mean of the last five is 96.
  expect(last([...before, 80], 5)).toBeNull()
})

test('the RSI reversion leaves when a close is back beyond the short average, or else when it has waited too long', () => {
  const falling = around(100, 99, 98, 97, 96, 95, 94, 93)
  const waiting = decisions(rsi, falling, position('long', 5), 5)
  expect(waiting.slice(5)).toEqual([null, null, { act: 'flat', why: 'time' }])
  const back = around(100, 99, 98, 97, 96, 95, 99)
  expect(decisions(rsi, back, position('long', 5), 5).at(-1)).toEqual(FLAT)
})

const volatility = volatilityBreakout('elm', { middleBars: 3, atrBars: 1, widthAtrs: 0.4 })

test('the volatility breakout enters far from the average, with the stop on it', () => {
  // Average 100, then 100 + (110 - 100) / 2 = 105. True range 111 - 100 = 11: 5 away is more than 4.4.
  expect(decisions(volatility, around(100, 100, 100, 110)).at(-1)).toEqual({ act: 'long', stop: 105 })
  expect(decisions(volatility, around(100, 100, 100, 90)).at(-1)).toEqual({ act: 'short', stop: 95 })
  // 1 away, with a true range of 103 - 100 = 3, is not more than 1.2.
  expect(decisions(volatility, around(100, 100, 100, 102)).at(-1)).toBeNull()
})

test('the volatility breakout leaves on the other side of the average', () => {
  expect(decisions(volatility, around(100, 100, 100, 101), position('long', 3), 3).at(-1)).toBeNull()
  expect(decisions(volatility, around(100, 100, 100, 99), position('long', 3), 3).at(-1)).toEqual(FLAT)
  expect(decisions(volatility, around(100, 100, 100, 101), position('short', 3), 3).at(-1)).toEqual(FLAT)
})

const trend = atrTrend('fir', { trendBars: 2, atrBars: 1, trailAtrs: 3 })

test('the ATR trend enters where a close crosses the average, with the stop where the trail begins', () => {
  // Averages 99, then 99 + 2/3 * (98 - 99) = 98.33 (below), then 98.33 + 2/3 * (103 - 98.33) = 101.44:
  // crossed. True range 104 - 98 = 6, stop 103 - 18.
  expect(decisions(trend, around(100, 98, 98, 103))).toEqual([null, null, null, { act: 'long', stop: 85 }])
})

test('the ATR trend leaves when a close is three ranges from the best price since the entry', () => {
  // The highest high is 121. Each later step is 0.5 and each true range 2, so the trail is at 121 - 3 * 2 =
  // 115, and the first close below it is 114.5.
  const closes = [100, 100, 110, 120, 119.5, 119, 118.5, 118, 117.5, 117, 116.5, 116, 115.5, 115, 114.5]
  const all = decisions(trend, around(...closes), position('long', 2), 2)
  expect(all.findIndex(decision => decision?.act === 'flat')).toBe(closes.indexOf(114.5))
})

test('the ATR trend restarts its trail with each position, also after a reversal', () => {
  const state = trend.init()
  const see = (i: number, c: number, held: Position | null) =>
    trend.onBar(state, { t: slot(i), o: c, h: c + 1, l: c - 1, c, v: 0 }, held)
  see(0, 100, null)
  see(1, 200, position('long', 1))
  expect(state.best).toBe(201)
  see(2, 190, position('long', 1))
  expect(state.best).toBe(201)
  // The reversal opens above all that the long has seen; its own lowest low is what counts.
  see(3, 250, position('short', 3))
  expect(state.best).toBe(249)
  see(4, 260, position('short', 3))
  expect(state.best).toBe(249)
  see(5, 140, null)
  expect(state.best).toBeNull()
})

// Slot 0 is 12 bars into a cycle of 20, and so a multiple of 4 timeframes: it rebalances at slots 0, 4, 8.
const momentum = timeSeriesMomentum('hazel', { lookbackBars: 3, rebalanceBars: 4, atrBars: 1, stopAtrs: 4 })

test('the time-series momentum decides on the bars of its calendar alone, by the close of the look-back', () => {
  // At slot 4 the close 105 is held against 101 of slot 1; true range 106 - 104 = 2: stop 105 - 8.
  expect(decisions(momentum, around(100, 101, 102, 104, 105, 110, 120, 100))).toEqual([
    ...Array(4).fill(null),
    { act: 'long', stop: 97 },
    ...Array(3).fill(null),
  ])
  expect(decisions(momentum, around(100, 101, 102, 104, 100)).at(-1)).toMatchObject({ act: 'short' })
})

test('the time-series momentum keeps what it holds while the sign stays, and reverses when it changes', () => {
  const rows = around(100, 101, 102, 104, 105)
  expect(decisions(momentum, rows, position('long', 1), 1).at(-1)).toBeNull()
  expect(decisions(momentum, rows, position('short', 1), 1).at(-1)).toMatchObject({ act: 'long' })
})

test('an entry of a strategy is none where the distance is 0, too small to be a price, or more than a long can lose', () => {
  expect(enter('long', 100, 0)).toBeNull()
  expect(enter('short', 100, 1e-20)).toBeNull()
  expect(enter('long', 100, 100)).toBeNull()
  expect(enter('short', 100, 100)).toEqual({ act: 'short', stop: 200 })
})

const COSTS = { commission_bps_per_side: 5, slippage_ticks: 2, tick_size: 0.1, max_leverage: 15 }

test.each(REFERENCE)(
  'the strategy %s trades on both sides, after its warm-up, within the cap, and never says what is already so',
  (_, strategy) => {
    const { events, result } = record({ strategy, bars: syntheticBars(6_000), funding: null, costs: COSTS })
    const sides = new Set(result.trades.map(({ side }) => side))
    expect([...sides].sort()).toEqual(['long', 'short'])
    expect(events[0]!.t).toBeGreaterThanOrEqual(slot(strategy.warmupBars))
    expect(result.state.entries_refused).toBe(0)
    expect(result.state.decisions_ignored).toBe(0)
  },
)
