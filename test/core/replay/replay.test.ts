import { expect, test } from 'vitest'
import { PROGRESS_BARS, replay } from '#core/replay/replay.ts'
import {
  COSTLY,
  DAY_0,
  FREE,
  flatDay,
  handBars,
  handFunding,
  run,
  START_MS,
  scripted,
  slot,
  still,
  stillBars,
  TIMEFRAME_MS,
} from './hand.ts'
import { syntheticBars } from './synthetic-bars.ts'

const LONG = { act: 'long', stop: 90 }

const bars = syntheticBars(3_000)
const corrected = {
  ...bars,
  h: bars.h.with(10, bars.h[10]! * 1.01),
  c: bars.c.with(10, bars.h[10]! * 1.01),
}
const funding = handFunding(
  ...Array.from(
    bars.t.filter(t => t % (2 * TIMEFRAME_MS) === 0),
    t => [t, 0.0001] as const,
  ),
)

/** The decision at every fifth bar; a stop far away. */
const taking = (even: 'long', odd: 'short' | 'flat') =>
  scripted(
    {},
    {
      onBar: (_, { t, c }) => {
        const turn = (t - START_MS) / TIMEFRAME_MS / 5
        if (!Number.isInteger(turn)) return null
        const act = turn % 2 === 0 ? even : odd
        return act === 'flat' ? { act, why: 'signal' } : { act, stop: act === 'long' ? c / 2 : c * 2 }
      },
    },
  )

test.each([
  ['with pauses between its trades', taking('long', 'flat'), 30],
  ['of reversals alone', taking('long', 'short'), 120],
])(
  'a correction of an old bar changes no later trade and no later return of a history %s, to the last bit',
  (_, strategy, firstSlot) => {
    const later = (market: typeof bars) => {
      const { trades, daily } = replay({ strategy, bars: market, funding, costs: COSTLY })
      return {
        trades: trades.filter(({ entry_time }) => entry_time >= slot(firstSlot)),
        returns: daily.values.slice(firstSlot / 6 + 1),
        first: daily.values.slice(0, 4),
      }
    }
    const [before, after] = [later(bars), later(corrected)]
    expect(after.first).not.toEqual(before.first)
    expect(after.trades).toEqual(before.trades)
    expect(after.returns).toEqual(before.returns)
    expect(before.trades.length).toBeGreaterThan(200)
  },
)

test('the inception is by default the first day that the bars cover from midnight', () => {
  const late = handBars(flatDay(100).concat(flatDay(100)), 2)
  expect(replay({ strategy: scripted({}), bars: late, funding: null, costs: FREE }).daily).toMatchObject({
    first: DAY_0 + 1,
  })
  const whole = handBars(flatDay(100))
  expect(replay({ strategy: scripted({}), bars: whole, funding: null, costs: FREE }).daily.first).toBe(DAY_0)
})

test('no order is taken before the inception: the series begins flat, with an equity of 1 at the close before', () => {
  const bars = [...stillBars(100, 120, 120, 120, 120, 120), ...flatDay(130)]
  const { result, events } = run({ bars, decisions: { 0: LONG, 4: LONG }, from: DAY_0 + 1 })
  expect(events).toEqual([])
  expect(result.daily.first).toBe(DAY_0 + 1)
  expect(Array.from(result.daily.values)).toEqual([0])
})

test('the inception takes the decision at the midnight that opens it, which fills at its first open', () => {
  const bars = [...flatDay(100), ...stillBars(100, 100, 100, 100, 100, 110)]
  const { result, events } = run({ bars, decisions: { 5: LONG }, from: DAY_0 + 1 })
  expect(events.map(({ kind, t }) => [kind, t])).toEqual([
    ['ordered', slot(5)],
    ['opened', slot(6)],
  ])
  expect(result.daily.values[0]).toBeCloseTo(0.02, 14)
})

test('the strategy is shown the bars before the inception, so its state does not depend on it', () => {
  const counting = scripted(
    {},
    {
      init: () => ({ seen: 0 }),
      onBar: state => {
        ;(state as { seen: number }).seen += 1
        return null
      },
    },
  )
  const bars = handBars([...flatDay(100), ...flatDay(100)])
  const input = { strategy: counting, bars, funding: null, costs: FREE }
  expect(replay({ ...input, from: DAY_0 + 1 }).state.strategy).toEqual({ seen: 12 })
  expect(replay({ ...input, from: DAY_0 + 1 }).state).toEqual(replay(input).state)
})

test('an inception that is no day of the bars is refused', () => {
  for (const from of [DAY_0 - 1, DAY_0 + 1])
    expect(() => run({ bars: flatDay(100), from })).toThrow('strategy alder: the inception must be')
})

test('a replay lists trades in order of entry, and one that is still open last', () => {
  const { result } = run({
    bars: stillBars(100, 100, 100, 100, 100, 100),
    decisions: { 0: LONG, 1: { act: 'flat', why: 'signal' }, 2: LONG },
  })
  expect(result.trades.map(trade => [trade.entry_time, trade.exit_time])).toEqual([
    [slot(1), slot(2)],
    [slot(3), null],
  ])
  expect(result.state.trades_closed).toBe(1)
})

test('a replay reports its progress regularly and at the end', () => {
  const rows = Array.from({ length: PROGRESS_BARS * 2 + 5 }, () => still(100))
  const reported: number[] = []
  run({ bars: rows, decisions: {}, onProgress: done => reported.push(done) })
  expect(reported).toEqual([PROGRESS_BARS, PROGRESS_BARS * 2, PROGRESS_BARS * 2 + 5])
})
