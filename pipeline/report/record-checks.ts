// What is implausible in a record, whatever it was made from: a module, a ledger or reported returns.
import { median } from 'simple-statistics'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { tradeResult } from '#core/dataset/snapshot.ts'
import { DAYS_PER_YEAR, FEWEST_DAYS, type Series } from '#core/figures/series.ts'
import { type Bars, barHolding } from '#core/replay/bars.ts'
import type { ReportedSpan } from '#core/replay/compare-reported.ts'
import type { StopLoss } from '#core/replay/measures.ts'
import type { ClosedTrade } from '#core/replay/resolve-trade.ts'
import { type Costs, slippagePrice } from '#core/replay/trade.ts'
import { counted } from '../book/field.ts'
import type { Found, RecordFinding } from './finding.ts'

type Ground = {
  readonly daily: Series
  /** In order of exit. */
  readonly closed: readonly ClosedTrade[]
  readonly stops: readonly StopLoss[]
  /** Null for reported returns. */
  readonly bars: Bars | null
  readonly costs: Costs
  readonly differing: readonly ReportedSpan[]
}

type Item = { readonly from: number; readonly to: number; readonly isHit: boolean }

/** The finding is there if `holds` of the hits among all items, which are in order of time; and there are `least` (20). */
type Evidence = {
  readonly code: RecordFinding
  readonly items: readonly Item[]
  readonly least?: number
  readonly holds?: (hits: number, of: number) => boolean
  readonly what: string
  readonly fix: string
}

/** Fewer trades, or days on which the account moves, show nothing. */
const LEAST = 20

const MOST_SHARPE = 4

/** The median loss at a stop, in units of the base risk. */
const LOSS = { least: 0.8, most: 1.25 }

/** In a bar of a few ticks every price is near an extreme. */
const EXTREME_SHARE = 0.1

/** What is too good. */
function evidenceOfLuck(ground: Ground): Evidence[] {
  const { daily, closed } = ground
  const perfect = ofTrades(closed, trade => isPerfect(trade, ground))
  const ratios = runningSharpe(daily.values)
  const moves = ofDays(daily).filter((_, i) => daily.values[i] !== 0)
  return [
    {
      ...{ code: 'perfect_fills', items: perfect, holds: (hits, of) => hits > of / 2 },
      what: `${perfect.filter(({ isHit }) => isHit).length} of ${perfect.length} trades enter at the low and leave at the high of their bars, within a tick (shorts the other way round)`,
      fix: 'give the prices at which orders were filled: a bar shows its extremes when it is over',
    },
    {
      code: 'no_losses',
      items: ofTrades(closed, ({ account_return }) => tradeResult(account_return) === 'loss'),
      holds: hits => hits === 0,
      what: `none of ${closed.length} trades lost`,
      fix: 'add the trades that lost',
    },
    {
      ...{ code: 'no_drawdown', items: moves, holds: hits => hits === 0 },
      what: `the account moved on ${moves.length} days and fell on none`,
      fix: 'mark open positions every day, and add the days that lost',
    },
    {
      ...{ code: 'high_sharpe', items: ofDays(daily), least: FEWEST_DAYS },
      holds: (_, of) => ratios[of - 1]! > MOST_SHARPE,
      what: `the Sharpe ratio is ${ratios.at(-1)?.toFixed(2)} over ${ratios.length} days, above ${MOST_SHARPE}`,
      fix: 'look for prices of the future, missing costs and missing trades',
    },
  ]
}

/** What contradicts itself. */
function evidenceOfErrors({ closed, stops, differing }: Ground): Evidence[] {
  const usual = stops.length === 0 ? 1 : median(stops.map(({ loss }) => loss))
  const [span] = differing
  const odd = closed.filter(each => each.account_return * each.return_per_notional < 0)
  return [
    {
      ...{ code: 'base_risk', least: 1, holds: () => isOff(usual) },
      items: ofTrades(stops.filter(({ loss }) => isOff(loss)).map(({ trade }) => trade)),
      what: `${counted(stops.length, 'trade')} that ended at the stop lost ${usual.toFixed(2)} times the base risk in the median, expected ${LOSS.least} to ${LOSS.most} times`,
      fix: 'state as base_risk_pct what the account loses at a stop',
    },
    {
      ...{ code: 'result_sign', items: ofTrades(odd), least: odd.length },
      what: `${counted(odd.length, 'trade')} with a gain of the account and a loss of the prices, or the other way round`,
      fix: 'correct the side, the prices or account_return',
    },
    {
      ...{ code: 'returns_differ', least: 1 },
      what: span === undefined ? '' : describeDifference(span, differing.length),
      items: differing.map(({ from, to }) => ({ from: from * DAY_MS, to: to * DAY_MS, isHit: true })),
      fix: 'correct the returns or the ledger',
    },
  ]
}

/** All are serious. The place of a finding is where it first holds, so that its acceptance lasts while the record grows. */
export const checkRecord = (ground: Ground): Found[] =>
  [...evidenceOfLuck(ground), ...evidenceOfErrors(ground)].flatMap(
    ({ items, least = LEAST, holds = () => true, ...verdict }) => {
      let hits = 0
      const isShown = items.map(({ isHit }, i) => {
        if (isHit) hits++
        return i + 1 >= least && holds(hits, i + 1)
      })
      if (isShown.at(-1) !== true) return []
      const first = items.slice(0, isShown.indexOf(true) + 1)
      const from = Math.min(...first.map(item => item.from))
      const to = Math.max(...first.map(item => item.to))
      return [{ ...verdict, severity: 'serious' as const, from, to, count: first.length, at: [] }]
    },
  )

const ofTrades = (trades: readonly ClosedTrade[], isHit = (_: ClosedTrade): boolean => true): Item[] =>
  trades.map(trade => ({ from: trade.entry_time, to: trade.exit_time, isHit: isHit(trade) }))

/** Days that lost are hits. */
const ofDays = ({ first, values }: Series): Item[] =>
  Array.from(values, (value, i) => {
    const day = (first + i) * DAY_MS
    return { from: day, to: day, isHit: value < 0 }
  })

/** Whether a long enters at the low and leaves at the high of its bars; the declared slippage may be in its prices. */
function isPerfect({ side, ...trade }: ClosedTrade, { bars, costs }: Ground): boolean {
  if (bars === null) return false
  const isAt = (ms: number, price: number, isLow: boolean): boolean => {
    const i = barHolding(bars, ms)
    const range = bars.h[i]! - bars.l[i]!
    const inward = isLow ? price - bars.l[i]! : bars.h[i]! - price
    const off = Math.min(Math.abs(inward), Math.abs(inward - slippagePrice(costs)))
    return range > 0 && off <= Math.min(costs.tick_size * (1 + 1e-6), EXTREME_SHARE * range)
  }
  const isLong = side === 'long'
  return isAt(trade.entry_time, trade.entry_price, isLong) && isAt(trade.exit_time, trade.exit_price, !isLong)
}

const isOff = (loss: number): boolean => loss < LOSS.least || loss > LOSS.most

/** The annualised Sharpe ratio up to each day. */
function runningSharpe(values: Float64Array): number[] {
  let [mean, squares] = [0, 0]
  return Array.from(values, (value, i) => {
    const off = value - mean
    mean += off / (i + 1)
    squares += off * (value - mean)
    return squares > 0 ? mean * Math.sqrt((DAYS_PER_YEAR * i) / squares) : 0
  })
}

const describeDifference = ({ from, to, returned, ledger }: ReportedSpan, count: number): string =>
  Number.isNaN(ledger)
    ? `the ledger has a position at every midnight since ${toIsoDate(from)}, so the reported returns, ${percent(returned)} in all, could not be compared with it`
    : `reported returns and ledger differ in ${counted(count, 'period')}, first from ${toIsoDate(from)} to ${toIsoDate(to)}: ${percent(returned)} is reported, and ${percent(ledger)} follows from the ledger`

const percent = (fraction: number): string => `${(100 * fraction).toFixed(4)} %`
