// The records of the accumulation program, as they are published or answered.
import { DAY_MS, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import {
  type BasketView,
  type PerformanceBenchmark,
  PROGRAM_SCHEMA_VERSION,
  type ProgramBasket,
  type ProgramDeploy,
  type ProgramManifest,
  type ProgramPerformance,
  type ProgramPreview,
  type ProgramSimulation,
  type SimulationInput,
} from '#core/contract/payloads/program.ts'
import { toPercent, toSignificant } from '#core/contract/rounding.ts'
import { DAYS_PER_YEAR } from '#core/figures/series.ts'
import { type BenchmarkName, benchmarks, cheapestQuartileShare, dcaUpTo } from '#core/program/benchmarks.ts'
import { deploymentState, type ProgramData, type ProgramPlan, type Rolling } from '#core/program/program.ts'
import {
  averageCost,
  type Deployment,
  type Holding,
  type Simulation,
  simulate,
} from '#core/program/simulate.ts'
import { endOfBars } from '#core/replay/bars.ts'

/** `/v1/program/preview`: the program in one page. */
export function renderPreview(data: ProgramData): ProgramPreview {
  const { plan } = data
  const simulation = referenceSimulation(data)
  const comparisons = compare(data, simulation)
  return {
    ...recordHead(plan),
    deployment_state: deploymentState(data),
    instrument: plan.instrument,
    window: windowRecord(data),
    tiers: tierWeights(plan),
    avg_cost_basis: comparisons.avg_cost_basis,
    benchmarks: benchmarkRecords(comparisons),
    pct_capital_cheapest_quartile: quartileShare(data, simulation),
    pct_deployed: pctDeployed(simulation.totals),
    rolling: rollingRecord(data.rolling),
    as_of: asOf(data),
    tv_status: plan.tv_status,
  }
}

/** `/v1/program`: what the program is. */
export function renderManifest(data: ProgramData, datasetVersion: string): ProgramManifest {
  const { plan } = data
  const simulation = referenceSimulation(data)
  return {
    ...recordHead(plan),
    instrument: plan.instrument,
    deployment_state: deploymentState(data),
    tiers: tierWeights(plan),
    window: windowRecord(data),
    contribution_cadence_bars: plan.contribution_cadence_bars,
    reference_equity_usd: plan.reference_equity_usd,
    costs: { fee_bps: plan.costs.fee_bps, slippage_bps: plan.costs.slippage_bps },
    benchmarks: benchmarkRecords(compare(data, simulation)),
    last_deploy_seq: simulation.deployments.length,
    dataset_version: datasetVersion,
    tv_status: plan.tv_status,
  }
}

const referenceSimulation = (data: ProgramData): Simulation =>
  simulate(data, data.plan.contribution_cadence_bars)

const benchmarkRecords = ({ against }: Comparisons): ProgramPreview['benchmarks'] =>
  eachBenchmark(name => {
    const { value, advantage_bps, pct_cheaper } = against[name]
    return { value, advantage_bps, pct_cheaper }
  })

/**
 * `/v1/program/deploys`: every deployment of the reference basket, ascending. A record depends on nothing
 * after its bar, so a later night appends and never changes one.
 */
export function renderDeploys(data: ProgramData): ProgramDeploy[] {
  const { deployments } = referenceSimulation(data)
  let [deployed, btc] = [0, 0]
  return deployments.map((deployment, i) => {
    deployed += deployment.spend
    btc += deployment.btc
    return {
      ...deployRecord(data, i + 1, deployment),
      cum_weight: toSignificant(deployed),
      avg_cost_basis: toSignificant(deployed / btc),
    }
  })
}

function deployRecord(
  { plan, bars, first }: ProgramData,
  seq: number,
  { bar, tier, spend, btc }: Deployment,
) {
  const equity = plan.reference_equity_usd
  return {
    ...recordHead(plan),
    seq,
    deploy_id: `${plan.alias}-${seq}`,
    timestamp: toIsoInstant(bars.t[first + bar]! + bars.timeframeMs),
    tier,
    price: toSignificant(bars.c[first + bar]!),
    weight: toSignificant(spend),
    usd: toSignificant(spend * equity),
    btc: toSignificant(btc * equity),
  }
}

/**
 * `/v1/program/basket`: what the program holds. `reference` is the run whose deployments are published: those
 * that `/v1/program/deploys` numbers, whatever the cadence of this basket.
 */
export function renderBasket(
  data: ProgramData,
  view: BasketView,
  input: SimulationInput,
  simulation: Simulation = simulate(data, input.contribution_cadence_bars),
  reference: Simulation = referenceSimulation(data),
): ProgramBasket {
  const { equity_usd } = input
  const price = data.mark?.price ?? null
  return {
    ...recordHead(data.plan),
    view,
    as_of: data.mark === null ? null : toIsoInstant(data.mark.at),
    deployment_state: deploymentState(data),
    equity_usd,
    contribution_cadence_bars: input.contribution_cadence_bars,
    mark_price: published(price),
    tiers: simulation.tiers.map(({ tier, weight, ...holding }) => ({
      tier,
      weight,
      ...holdingRecord(holding, equity_usd),
    })),
    totals: totalsRecord(simulation.totals, equity_usd, price),
    last_deploy_seq: reference.deployments.length,
  }
}

const holdingRecord = (holding: Holding, equity: number) => ({
  contributed_usd: toSignificant(holding.contributed * equity),
  deployed_usd: toSignificant(holding.deployed * equity),
  reserve_usd: toSignificant(holding.reserve * equity),
  btc: toSignificant(holding.btc * equity),
  avg_cost_basis: published(averageCost(holding)),
})

function totalsRecord(totals: Holding, equity: number, price: number | null) {
  const average = averageCost(totals)
  return {
    ...holdingRecord(totals, equity),
    market_value_usd: toSignificant(totals.btc * equity * (price ?? 0)),
    unrealized_pct: average === null || price === null ? null : toPercent((price / average - 1) * 100),
    pct_deployed: pctDeployed(totals),
  }
}

/** `/v1/program/performance`: the reference basket held against one benchmark. */
export function renderPerformance(data: ProgramData, benchmark: PerformanceBenchmark): ProgramPerformance {
  const simulation = referenceSimulation(data)
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
  if (yearsOf(earliest) * DAYS_PER_YEAR < 30) return null // a rate over fewer days says nothing of a year
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

/** The part of a simulation that costs time. It depends on the cadence alone: one serves every equity. */
export type PreparedSimulation = ReturnType<typeof prepareSimulation>

export function prepareSimulation(data: ProgramData, cadenceBars: number) {
  const simulation = simulate(data, cadenceBars)
  return { simulation, comparisons: compare(data, simulation) }
}

/** `/v1/program/simulate` and `/v1/program/preview/simulate`: the same answer for the same input. */
export function renderSimulation(
  data: ProgramData,
  input: SimulationInput,
  prepared = prepareSimulation(data, input.contribution_cadence_bars),
): ProgramSimulation {
  const { simulation, comparisons } = prepared
  const { equity_usd, contribution_cadence_bars } = input
  return {
    ...recordHead(data.plan),
    input: { equity_usd, contribution_cadence_bars },
    total_usd_deployed: toSignificant(simulation.totals.deployed * equity_usd),
    total_btc_accumulated: toSignificant(simulation.totals.btc * equity_usd),
    avg_cost_basis: comparisons.avg_cost_basis,
    benchmarks: eachBenchmark(name => {
      const { value, pct_cheaper } = comparisons.against[name]
      return { value, pct_cheaper }
    }),
  }
}

const recordHead = ({ alias }: ProgramPlan) => ({ schema_version: PROGRAM_SCHEMA_VERSION, alias })

const tierWeights = ({ tiers }: ProgramPlan) => tiers.map(({ tier, weight }) => ({ tier, weight }))

function windowRecord({ plan, bars, first }: ProgramData) {
  const start = bars.c[first]
  return {
    bars: plan.timeframe,
    from: toIsoDate(plan.window.from),
    to: toIsoDate(plan.window.to),
    start_close: start === undefined ? null : toSignificant(start),
  }
}

/** The close of the newest bar, warm-up included; null if there is none. */
const asOf = ({ bars }: ProgramData): string | null =>
  bars.t.length === 0 ? null : toIsoInstant(endOfBars(bars))

const pctDeployed = ({ contributed, deployed }: Holding): number =>
  contributed === 0 ? 0 : toPercent((deployed / contributed) * 100)

function quartileShare(data: ProgramData, { deployments }: Simulation): number | null {
  const share = cheapestQuartileShare(data, deployments)
  return share === null ? null : toPercent(share)
}

const rollingRecord = (rolling: Rolling | null) =>
  rolling && {
    windows: rolling.windows,
    win_rate_pct: toPercent(rolling.win_rate * 100),
    median_pct_cheaper: toPercent(rolling.median_cheaper * 100),
  }

// The program beside a benchmark. Everything is computed from the numbers as they are published, so that a client that computes
// it again from the answer gets the same.

type Comparisons = ReturnType<typeof compare>

function compare(data: ProgramData, simulation: Simulation) {
  const average = published(averageCost(simulation.totals))
  const values = benchmarks(data, simulation.cadence_bars)
  return {
    avg_cost_basis: average,
    against: eachBenchmark(name => compareWith(average, published(values[name]))),
  }
}

/**
 * The comparison with a benchmark that has spent as much cash as the program, not as much as it was given. The price of the
 * others does not depend on the amount.
 */
function compareAtEqualCash(data: ProgramData, { cadence_bars, totals }: Simulation, name: BenchmarkName) {
  const value =
    name === 'dca' ? dcaUpTo(data, cadence_bars, totals.deployed) : benchmarks(data, cadence_bars)[name]
  const { advantage_bps: _, ...compared } = compareWith(published(averageCost(totals)), published(value))
  return compared
}

/** Something of every benchmark, in their order. */
const eachBenchmark = <Value>(of: (name: BenchmarkName) => Value): Record<BenchmarkName, Value> => ({
  dca: of('dca'),
  vwap: of('vwap'),
  lump_sum: of('lump_sum'),
  hodl: of('hodl'),
})

/** A figure of 10 significant digits that may not exist. */
const published = (value: number | null): number | null => (value === null ? null : toSignificant(value))

function compareWith(average: number | null, value: number | null) {
  if (average === null || value === null) {
    return { value, pct_cheaper: null, advantage_bps: null, btc_vs_benchmark_pct: null }
  }
  const pctCheaper = toPercent((1 - average / value) * 100)
  return {
    value,
    pct_cheaper: pctCheaper,
    advantage_bps: toBasisPoints(pctCheaper),
    btc_vs_benchmark_pct: toPercent((value / average - 1) * 100),
  }
}

/** A percent of 6 decimals times 100, as a decimal: in binary 1.234567 x 100 is 123.45670000000001. */
const toBasisPoints = (percent: number): number => Number((percent * 100).toFixed(4))
