import { expect, test } from 'vitest'
import type { Position, Strategy } from '#core/replay/strategy.ts'
import { donchianBreakout } from '#pipeline/sample/template/strategies/alder.ts'
import { dualMovingAverage } from '#pipeline/sample/template/strategies/birch.ts'
import { rsiReversion } from '#pipeline/sample/template/strategies/cedar.ts'
import { volatilityBreakout } from '#pipeline/sample/template/strategies/hazel.ts'
import { atrTrend } from '#pipeline/sample/template/strategies/larch.ts'
import { timeSeriesMomentum } from '#pipeline/sample/template/strategies/maple.ts'
import { enter } from '#pipeline/starter/template/strategies/highwater/indicators.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { record, slot } from '../../core/replay/hand.ts'
import { REFERENCE } from '../../core/replay/strategies.ts'
import { syntheticBars } from '../../core/replay/synthetic-bars.ts'

const position = (side: 'long' | 'short', i: number): Position => ({
  ...{ side, entry_time: slot(i), entry_price: 100, stop: side === 'long' ? 1 : 1000 },
})

/** What a strategy decides on bars with a range of 2 around these closes, holding a position from the bar at `from` on. */
function decisions<State>(
  strategy: Strategy<State>,
  closes: readonly number[],
  held?: 'long' | 'short',
  from = closes.length - 1,
): string[] {
  const state = strategy.init()
  return closes.map((c, i) => {
    const bar = { t: slot(i), o: c, h: c + 1, l: c - 1, c, v: 0 }
    const decision = strategy.onBar(state, bar, held && i >= from ? position(held, from) : null)
    if (decision === null) return 'nothing'
    return decision.act === 'flat' ? `flat by ${decision.why}` : `${decision.act} to ${decision.stop}`
  })
}

const ONE_ATR = { atrBars: 1 }
const donchian = donchianBreakout('alder', { ...ONE_ATR, entryBars: 3, exitBars: 2, stopAtrs: 2 })
const dual = dualMovingAverage('birch', { ...ONE_ATR, fastBars: 1, slowBars: 3, stopAtrs: 3 })
const rsiWith = (trendBars: number) =>
  rsiReversion('cedar', { ...ONE_ATR, trendBars, exitBars: 2, stopAtrs: 3, longestBars: 2 })
const volatility = volatilityBreakout('elm', { ...ONE_ATR, middleBars: 3, widthAtrs: 0.4 })
const trend = atrTrend('fir', { ...ONE_ATR, trendBars: 2, trailAtrs: 3 })
// Slot 0 is 12 bars into a cycle of 20, and so a multiple of 4 timeframes: it rebalances at slots 0, 4, 8.
const momentum = timeSeriesMomentum('hazel', { ...ONE_ATR, lookbackBars: 3, rebalanceBars: 4, stopAtrs: 4 })

// A gain of 60 halves with each still bar and at the last one weighs 0.47. A loss of 20 weighs 10 there:
// RSI 4.5; a loss of 1 weighs 0.5: RSI 48. The mean of the last eleven closes is 76.4 after the dip to 80,
// 78.1 after 99; that of the last five is 96 after the dip to 80.
const RISEN = '40 40 40 40 100 100 100 100 100 100'
const FALLEN = '160 160 160 160 100 100 100 100 100 100'

test.each(casesOf<[string, Strategy<unknown>, string, string, ('long' | 'short')?]>`
the Donchian breakout stays out on the edge of the range before -> ${donchian} -> 100 100 100 101 -> nothing
the Donchian breakout goes long above the range before, with the stop two ranges of 106 - 101 away -> ${donchian} -> 100 100 100 101 105 -> long to 95
the Donchian breakout goes short below the range before, with the stop two ranges of 100 - 94 away -> ${donchian} -> 100 100 100 95 -> short to 107
the Donchian breakout keeps a long on the edge of the shorter range -> ${donchian} -> 100 100 100 99 -> nothing -> long
the Donchian breakout leaves a long below the shorter range -> ${donchian} -> 100 100 100 98.5 -> flat by signal -> long
the Donchian breakout leaves a short above the shorter range -> ${donchian} -> 100 100 100 101.5 -> flat by signal -> short
the dual moving average stays out on 97, the mean of three -> ${dual} -> 100 98 96 97 -> nothing
the dual moving average goes long on a cross, with the stop three ranges of 103 - 97 away -> ${dual} -> 100 98 96 97 102 -> long to 84
the dual moving average decides nothing after the bar of a cross -> ${dual} -> 100 98 96 97 102 102 -> nothing
the dual moving average goes short on the opposite cross, with the stop three ranges of 104 - 93 away -> ${dual} -> 96 100 104 94 -> short to 127
the RSI reversion buys a sharp dip in an uptrend, with the stop three ranges of 100 - 79 away -> ${rsiWith(11)} -> ${RISEN} 80 -> long to 17
the RSI reversion sells a sharp rally in a downtrend -> ${rsiWith(11)} -> ${FALLEN} 120 -> short to 183
the RSI reversion leaves a dip alone that is not sharp -> ${rsiWith(11)} -> ${RISEN} 99 -> nothing
the RSI reversion leaves a dip in a downtrend alone -> ${rsiWith(5)} -> ${RISEN} 80 -> nothing
the RSI reversion leaves a position when a close is back beyond the short average -> ${rsiWith(5)} -> 100 99 98 97 96 95 99 -> flat by signal -> long
the volatility breakout goes long 5 away from the average, more than 0.4 x 11, with the stop on it -> ${volatility} -> 100 100 100 110 -> long to 105
the volatility breakout goes short as far below the average -> ${volatility} -> 100 100 100 90 -> short to 95
the volatility breakout stays out 1 away from the average, less than 0.4 x 3 -> ${volatility} -> 100 100 100 102 -> nothing
the volatility breakout keeps a long on its side of the average -> ${volatility} -> 100 100 100 101 -> nothing -> long
the volatility breakout leaves a long on the other side of the average -> ${volatility} -> 100 100 100 99 -> flat by signal -> long
the volatility breakout leaves a short on the other side of the average -> ${volatility} -> 100 100 100 101 -> flat by signal -> short
the ATR trend stays out below the average of 98.33 -> ${trend} -> 100 98 98 -> nothing
the ATR trend goes long where a close crosses the average of 101.44, with the stop three ranges of 104 - 98 away -> ${trend} -> 100 98 98 103 -> long to 85
the time-series momentum goes long on a bar of its calendar above the close three before, with the stop four ranges away -> ${momentum} -> 100 101 102 104 105 -> long to 97
the time-series momentum goes short on a bar of its calendar below it -> ${momentum} -> 100 101 102 104 100 -> short to 120
the time-series momentum decides nothing between the bars of its calendar -> ${momentum} -> 100 101 102 104 105 110 120 100 -> nothing
the time-series momentum keeps what it holds while the sign stays -> ${momentum} -> 100 101 102 104 105 -> nothing -> long
the time-series momentum reverses what it holds when the sign changes -> ${momentum} -> 100 101 102 104 105 -> long to 97 -> short`)(
  'a strategy of the sample book decides by its rule: %s',
  (_, strategy, closes, decision, held) => {
    expect(decisions(strategy, closes.split(' ').map(Number), held).at(-1)).toBe(decision)
  },
)

test('the RSI reversion leaves a position when it has waited too long', () => {
  const waiting = decisions(rsiWith(5), [100, 99, 98, 97, 96, 95, 94, 93], 'long', 5)
  expect(waiting.slice(5)).toEqual(['nothing', 'nothing', 'flat by time'])
})

test('the ATR trend leaves when a close is three ranges from the best price since the entry', () => {
  // The highest high is 121. Each later step is 0.5 and each true range 2, so the trail is at 121 - 3 * 2 =
  // 115, and the first close below it is 114.5.
  const closes = [100, 100, 110, 120, 119.5, 119, 118.5, 118, 117.5, 117, 116.5, 116, 115.5, 115, 114.5]
  const all = decisions(trend, closes, 'long', 2)
  expect(all.indexOf('flat by signal')).toBe(closes.indexOf(114.5))
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
