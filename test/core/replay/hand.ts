// Bars, costs and strategies written by hand, so that every expected number can be worked out beside the test.
import { expect } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { type Bars, type Funding, toBars } from '#core/replay/bars.ts'
import type { StepEvent } from '#core/replay/events.ts'
import { type LedgerInput, type LedgerMarks, markLedger } from '#core/replay/marks.ts'
import { type Replay, type ReplayInput, replay } from '#core/replay/replay.ts'
import type { Decision, Strategy } from '#core/replay/strategy.ts'
import type { Costs, Trade } from '#core/replay/trade.ts'

export const HOUR_MS = 3_600_000
export const TIMEFRAME_MS = 4 * HOUR_MS
export const DAY_0 = parseIsoDate('2020-01-01')!
export const START_MS = DAY_0 * 24 * HOUR_MS

/** The open of the bar in slot `i`: six slots a day, the first at 2020-01-01T00:00Z. */
export const slot = (i: number): number => START_MS + i * TIMEFRAME_MS

export type Ohlc = readonly [o: number, h: number, l: number, c: number]

/** 4-hour bars in consecutive slots from `first` on; null leaves a slot empty (an outage). */
export function handBars(rows: readonly (Ohlc | null)[], first = 0): Bars {
  const kept = rows.flatMap((row, i) => (row === null ? [] : [{ t: slot(first + i), row }]))
  const bars = kept.map(({ t, row: [o, h, l, c] }) => ({ t, o, h, l, c, v: Number.NaN }))
  return toBars(TIMEFRAME_MS, name => Float64Array.from(bars, bar => bar[name]))
}

/** A bar that stays where it is. */
export const still = (price: number): Ohlc => [price, price, price, price]

/** Bars that stay at these prices; six make a day. */
export const stillBars = (...prices: number[]): Ohlc[] => prices.map(still)

/** A day that stays at a price, and one without any bar. */
export const flatDay = (price: number): Ohlc[] => Array.from({ length: 6 }, () => still(price))
export const NO_DAY: readonly null[] = [null, null, null, null, null, null]

export const handFunding = (...events: readonly (readonly [ms: number, rate: number])[]): Funding => ({
  t: Float64Array.from(events, ([ms]) => ms),
  rate: Float64Array.from(events, ([, rate]) => rate),
})

export const FREE: Costs = { commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 1, max_leverage: 15 }

/** Commission 0.001 of notional a side, slippage 1. */
export const COSTLY: Costs = {
  commission_bps_per_side: 10,
  slippage_ticks: 2,
  tick_size: 0.5,
  max_leverage: 15,
}

/** A strategy with given decisions, by slot of the bar. It risks 2 % and has no warm-up. */
export const scripted = (
  decisions: Readonly<Record<number, unknown>>,
  overrides: Partial<Strategy<unknown>> = {},
): Strategy<unknown> => ({
  id: 'alder',
  version: '1',
  timeframeMs: TIMEFRAME_MS,
  warmupBars: 0,
  baseRisk: 0.02,
  init: () => ({}),
  // A script may hold what no Decision is: a module that no compiler has seen.
  onBar: (_, bar) => (decisions[(bar.t - START_MS) / TIMEFRAME_MS] ?? null) as Decision,
  ...overrides,
})

export type Script = Partial<Omit<ReplayInput, 'bars'>> & {
  readonly bars: readonly (Ohlc | null)[]
  readonly decisions?: Readonly<Record<number, unknown>>
}

/** Replays a script, without costs and funding unless it has some. */
export const run = ({ bars, decisions = {}, ...rest }: Script): Recording =>
  record({ strategy: scripted(decisions), bars: handBars(bars), funding: null, costs: FREE, ...rest })

/** A closed long from 100 at slot 1 to 110 at slot 3, of which a test changes what it is about. */
export const trade = (overrides: Partial<Trade> = {}): Trade => ({
  side: 'long',
  entry_time: slot(1),
  entry_price: 100,
  exit_time: slot(3),
  exit_price: 110,
  exit_reason: 'signal',
  leverage: null,
  stop: null,
  account_return: null,
  ...{ fees: null, funding: null },
  ...overrides,
})

export type Ledger = Partial<Omit<LedgerInput, 'bars' | 'trades'>> & {
  readonly bars: readonly (Ohlc | null)[]
}

/** Marks a ledger, without costs and funding unless it has some. */
export const mark = (trades: readonly Trade[], { bars, ...rest }: Ledger): LedgerMarks =>
  markLedger({
    ...{ id: 'alder', trades, bars: handBars(bars), funding: null, costs: FREE, baseRisk: 0.02 },
    ...rest,
  })

/** The equity at the close of each day, from 1 on the day before the first. */
export const equityOf = ({ daily }: Pick<Replay, 'daily'>): number[] => [...equityCurve(daily.values)]

/** The one trade there is. */
export function only(trades: readonly Trade[]): Trade {
  expect(trades).toHaveLength(1)
  return trades[0]!
}

export const kinds = (events: readonly StepEvent[]): string[] => events.map(({ kind }) => kind)

/** A replay with everything that happened in it, in order. */
export type Recording = { readonly result: Replay; readonly events: StepEvent[] }

export function record(input: ReplayInput): Recording {
  const events: StepEvent[] = []
  const result = replay({ ...input, onEvent: event => events.push(event) })
  return { result, events }
}
