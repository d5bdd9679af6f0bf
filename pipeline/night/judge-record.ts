import { mean, median } from 'simple-statistics'
import { toPercent } from '#core/contract/rounding.ts'
import { lossesAtStops } from '#core/replay/measures.ts'
import { closedTrades } from '#core/replay/resolve-trade.ts'
import { costsOf } from '../modules/module-input.ts'
import { draftRecord } from '../report/data-report.ts'
import { checkRecord } from '../report/record-checks.ts'
import type { History, HistoryTask } from './histories.ts'

/** What the trades of a history show, and what is implausible in it. */
export function judgeRecord({ entry, bars }: HistoryTask, history: History) {
  const { daily, trades, deviations, differing } = history
  const closed = closedTrades(trades).sort((a, b) => a.exit_time - b.exit_time)
  const costs = costsOf(entry)
  const stops = lossesAtStops(closed, entry.base_risk_pct, costs)
  const excess = (deviations ?? []).map(each => each.excess * 10_000)
  const largest = excess.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0)
  const stated_costs = (['fees', 'funding'] as const).flatMap(cost => {
    const given = closed.flatMap(trade => trade[cost] ?? [])
    return given.length === 0
      ? []
      : [{ cost, trades: given.length, mean_bps: toPercent(10_000 * mean(given)) }]
  })
  const measured = {
    trades_checked: deviations?.length ?? closed.length,
    mean_deviation_bps: excess.length === 0 ? null : toPercent(mean(excess)),
    largest_deviation_bps: excess.length === 0 ? null : toPercent(largest),
    trades_at_stop: stops.length,
    loss_at_stop: stops.length === 0 ? null : toPercent(median(stops.map(({ loss }) => loss))),
    ...(stated_costs.length === 0 ? {} : { stated_costs }),
  }
  const found = checkRecord({ daily, closed, stops, bars, costs, differing: differing ?? [] })
  return { measured, record: draftRecord(entry, daily, found) }
}
