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
  programManifest,
  programPerformance,
  programPreview,
  type SimulationInput,
} from '#core/contract/payloads/program.ts'
import { toPercent, toSignificant } from '#core/contract/rounding.ts'
import { DAYS_PER_YEAR } from '#core/figures/series.ts'
import { type BenchmarkName, benchmarks, cheapestQuartileShare, dcaUpTo } from '#core/program/benchmarks.ts'
import { deploymentState, type ProgramData, type ProgramPlan } from '#core/program/program.ts'
import {
  averageCost,
  type Deployment,
  type Holding,
  type Simulation,
  simulate,
} from '#core/program/simulate.ts'
import { endOfBars } from '#core/replay/bars.ts'
import { pick } from '../resource.ts'

/** `/v1/program/preview`: the program in one page. */
export const renderPreview = (data: ProgramData): ProgramPreview =>
  pick(factsOf(data), ...fieldsOf(programPreview))

/** `/v1/program`: what the program is. */
export const renderManifest = (data: ProgramData, dataset_version: string): ProgramManifest =>
  pick({ ...factsOf(data), dataset_version }, ...fieldsOf(programManifest))

const fieldsOf = <Shape extends object>({ shape }: { readonly shape: Shape }) =>
  Object.keys(shape) as (keyof Shape)[] // in the order in which they are published

/** What the records say of the program and of its reference basket, each fact under one name. */
function factsOf(data: ProgramData, simulation = referenceSimulation(data)) {
  const { plan, bars } = data
  const { avg_cost_basis, against } = compare(data, simulation)
  const quartile = cheapestQuartileShare(data, simulation.deployments)
  return {
    ...recordHead(plan),
    deployment_state: deploymentState(data),
    ...pick(plan, 'instrument', 'contribution_cadence_bars', 'reference_equity_usd', 'tv_status'),
    costs: pick(plan.costs, 'fee_bps', 'slippage_bps'),
    window: windowRecord(data),
    tiers: plan.tiers.map(tier => pick(tier, 'tier', 'weight')),
    avg_cost_basis,
    benchmarks: eachBenchmark(name => pick(against[name], 'value', 'advantage_bps', 'pct_cheaper')),
    pct_capital_cheapest_quartile: quartile === null ? null : toPercent(quartile),
    pct_deployed: pctDeployed(simulation.totals),
    rolling: data.rolling && {
      windows: data.rolling.windows,
      win_rate_pct: toPercent(data.rolling.win_rate * 100),
      median_pct_cheaper: toPercent(data.rolling.median_cheaper * 100),
    },
    as_of: bars.t.length === 0 ? null : toIsoInstant(endOfBars(bars)), // warm-up included
    last_deploy_seq: simulation.deployments.length,
  }
}

const referenceSimulation = (data: ProgramData): Simulation =>
  simulate(data, data.plan.contribution_cadence_bars)

/**
 * `/v1/program/deploys`: every deployment of the reference basket, ascending. A record depends on nothing
 * after its bar, so a later night appends and never changes one.
 */
export function renderDeploys(data: ProgramData): ProgramDeploy[] {
  const { plan, bars, first } = data
  const equity = plan.reference_equity_usd
  let [deployed, bought] = [0, 0]
  return referenceSimulation(data).deployments.map(({ bar, tier, spend, btc }, i) => {
    deployed += spend
    bought += btc
    return {
      ...recordHead(plan),
      seq: i + 1,
      deploy_id: `${plan.alias}-${i + 1}`,
      timestamp: toIsoInstant(bars.t[first + bar]! + bars.timeframeMs),
      tier,
      price: toSignificant(bars.c[first + bar]!),
      weight: toSignificant(spend),
      usd: toSignificant(spend * equity),
      btc: toSignificant(btc * equity),
      cum_weight: toSignificant(deployed),
      avg_cost_basis: toSignificant(deployed / bought),
    }
  })
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
    ...pick(input, 'equity_usd', 'contribution_cadence_bars'),
    mark_price: published(price),
    tiers: simulation.tiers.map(tier => ({
      ...pick(tier, 'tier', 'weight'),
      ...holdingRecord(tier, equity_usd),
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
  const { value, ...compared } = compare(data, simulation).against[benchmark]
  const growth = moneyWeightedReturn(data, simulation.deployments)
  const record = {
    ...factsOf(data, simulation),
    ...{ benchmark, benchmark_value: value, ...compared },
    at_equal_cash: compareAtEqualCash(data, simulation, benchmark),
    money_weighted_return_pct: growth === null ? null : toPercent(growth * 100),
  }
  return pick(record, ...fieldsOf(programPerformance))
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
  const { equity_usd } = input
  return {
    ...recordHead(data.plan),
    input: pick(input, 'equity_usd', 'contribution_cadence_bars'),
    total_usd_deployed: toSignificant(simulation.totals.deployed * equity_usd),
    total_btc_accumulated: toSignificant(simulation.totals.btc * equity_usd),
    avg_cost_basis: comparisons.avg_cost_basis,
    benchmarks: eachBenchmark(name => pick(comparisons.against[name], 'value', 'pct_cheaper')),
  }
}

const recordHead = ({ alias }: ProgramPlan) => ({ schema_version: PROGRAM_SCHEMA_VERSION, alias })

function windowRecord({ plan, bars, first }: ProgramData) {
  const start = bars.c[first]
  return {
    bars: plan.timeframe,
    from: toIsoDate(plan.window.from),
    to: toIsoDate(plan.window.to),
    start_close: start === undefined ? null : toSignificant(start),
  }
}

const pctDeployed = ({ contributed, deployed }: Holding): number =>
  contributed === 0 ? 0 : toPercent((deployed / contributed) * 100)

// The program beside a benchmark. Everything is computed from the numbers as they are published, so that a client that computes
// it again from the answer gets the same.

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
