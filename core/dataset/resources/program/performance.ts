import { DAY_MS } from '#core/calendar.ts'
import type { PerformanceBenchmark, ProgramPerformance } from '#core/contract/payloads/program.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { DAYS_PER_YEAR } from '#core/figures/series.ts'
import type { ProgramData } from '#core/program/program.ts'
import { type Deployment, simulate } from '#core/program/simulate.ts'
import { compare, compareAtEqualCash } from './comparison.ts'
import { asOf, pctDeployed, quartileShare, recordHead, rollingRecord, windowRecord } from './record-parts.ts'

/** `/v1/program/performance`: the reference basket held against one benchmark. */
export function renderPerformance(data: ProgramData, benchmark: PerformanceBenchmark): ProgramPerformance {
  const simulation = simulate(data, data.plan.contribution_cadence_bars)
  const { avg_cost_basis, against } = compare(data, simulation)
  const { value, pct_cheaper, advantage_bps, btc_vs_benchmark_pct } = against[benchmark]
  const growth = moneyWeightedReturn(data, simulation.deployments)
  return {
    ...recordHead(data.plan),
    benchmark,
    as_of: asOf(data),
    window: windowRecord(data),
    avg_cost_basis,
    benchmark_value: value,
    pct_cheaper,
    advantage_bps,
    pct_capital_cheapest_quartile: quartileShare(data, simulation),
    pct_deployed: pctDeployed(simulation.totals),
    btc_vs_benchmark_pct,
    at_equal_cash: compareAtEqualCash(data, simulation, benchmark),
    money_weighted_return_pct: growth === null ? null : toPercent(growth * 100),
    rolling: rollingRecord(data.rolling),
  }
}

/** A rate over fewer days says nothing of a year. */
const FEWEST_DAYS = 30

/** Growth of e^50 a year, and its inverse: no market has either. */
const STEEPEST = 50

/** Halvings of the interval: more than a double has digits. */
const HALVINGS = 64

/**
 * The money-weighted return of a year, a fraction: the rate at which everything that was spent, each amount from the close
 * of its bar on, grows to the value of the BTC at the newest close. 365 days a year; the cash that waits is not in it.
 * Null if nothing is bought, if the first purchase is less than 30 days old, or if no rate fits.
 */
export function moneyWeightedReturn(
  { bars, first, mark }: ProgramData,
  deployments: readonly Deployment[],
): number | null {
  const [earliest] = deployments
  if (mark === null || earliest === undefined) return null
  const yearsOf = ({ bar }: Deployment): number =>
    (mark.at - (bars.t[first + bar]! + bars.timeframeMs)) / (DAYS_PER_YEAR * DAY_MS)
  if (yearsOf(earliest) * DAYS_PER_YEAR < FEWEST_DAYS) return null
  const flows = deployments.map(each => ({ spend: each.spend, years: yearsOf(each) }))
  const value = deployments.reduce((sum, { btc }) => sum + btc * mark.price, 0)
  // Every amount grows with the rate, so there is one root at most.
  const excess = (rate: number): number =>
    flows.reduce((sum, { spend, years }) => sum + spend * Math.exp(rate * years), -value)
  let [low, high] = [-STEEPEST, STEEPEST]
  if (excess(low) > 0 || excess(high) < 0) return null
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2
    if (excess(middle) > 0) high = middle
    else low = middle
  }
  return Math.expm1(low)
}
