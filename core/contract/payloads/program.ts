// Payloads of the accumulation program: what the night publishes of it, and what is computed from that data.
import { z } from 'zod'
import { BENCHMARK_NAMES, type BenchmarkName } from '#core/program/benchmarks.ts'
import { DEPLOYMENT_STATES, TIER_NAMES } from '#core/program/program.ts'
import {
  isoDate,
  list,
  namedRecord,
  number,
  numberOrNull,
  percent,
  record,
  recordOrNull,
  records,
  text,
  type ValueOf,
  whole,
  word,
} from './field.ts'
import { TV_STATUSES } from './strategy.ts'

/** Raised when a field of a record changes its meaning: subscribers pin it. */
export const PROGRAM_SCHEMA_VERSION = '1.0'

const dollars = (about: string) => number(`${about} US dollars, 10 significant digits.`)
const bitcoin = (about: string) => number(`${about} BTC, 10 significant digits.`)
const instant = (about: string) => text(`${about} UTC, ISO 8601.`)

const recordHead = {
  schema_version: text('Version of the records of the program, to be pinned.'),
  alias: text('The program: its entitlement has this name.'),
}

const deploymentState = word(
  '`not_started` before the first bar of the window has closed, `complete` once its last has, `paused` while the ' +
    'operator has paused it, else `accumulating`.',
  DEPLOYMENT_STATES,
)

const tierName = word(
  '`core` spends each contribution at once, `cyclical` by how far the price is from its long mean, `tactical` in falls.',
  TIER_NAMES,
)

const weight = number('Fraction of every contribution that the tier gets; the weights sum to 1.')

const tierWeight = { tier: tierName, weight }

const tierList = records('The tiers, in the order in which they buy.', tierWeight)

const programWindow = record('The planned window of the program.', {
  bars: text('Size of a bar: `1d`.'),
  from: isoDate('First UTC day, inclusive.'),
  to: isoDate('Last UTC day, inclusive; it may lie in the future.'),
  start_close: dollars('First close of the window; null until it has happened.').nullable(),
})

const averageCostBasis = dollars(
  'Dollars spent for one BTC, costs in; null until something is bought.',
).nullable()

const benchmarkValue = dollars(
  'Average cost of one BTC by the benchmark, over what has happened; null until something has.',
).nullable()

const pctCheaper = percent(
  '(1 - avg_cost_basis / value) x 100; null where there is nothing to compare.',
).nullable()

const advantageBps = numberOrNull('The published `pct_cheaper` x 100, basis points, 4 decimals.')

/** One of a kind for each benchmark; there may be more of them one day. */
const byBenchmark = <T extends z.ZodType>(of: T) =>
  z
    .object({
      dca: of.describe('Against each contribution spent at once.'),
      vwap: of.describe('Against the volume-weighted mean price.'),
      lump_sum: of.describe('Against everything spent at the first close.'),
      hodl: of.describe('Against the first close, held already.'),
    } satisfies Record<BenchmarkName, T>)
    .catchall(of)

const benchmarkComparisons = byBenchmark(
  z.looseObject({ value: benchmarkValue, advantage_bps: advantageBps, pct_cheaper: pctCheaper }),
).describe('The program held against what anybody could have done instead.')

const btcVsBenchmark = percent(
  '(benchmark_value / avg_cost_basis - 1) x 100: how much more BTC the same dollars bought; null where there is ' +
    'nothing to compare.',
).nullable()

const pctDeployed = percent('Dollars spent of the dollars contributed; 0 before the first contribution.')

const cheapestQuartile = numberOrNull(
  'Fraction of the dollars that were spent at closes in the cheapest quarter of the closes so far, 6 decimals; ' +
    'null until something is spent.',
)

const rolling = recordOrNull(
  'The same program on every year of the history, or null where it is too short: one window proves little.',
  {
    windows: z.int().min(1).describe('Windows of a year, one from each bar that leaves room; they overlap.'),
    win_rate_pct: percent('Windows in which the program bought cheaper than `dca`.'),
    median_pct_cheaper: percent('Median of `pct_cheaper` against `dca`.'),
  },
)

const asOf = instant(
  'Close of the newest bar up to the end of the window; null where there is none.',
).nullable()

const lastDeploySeq = whole(
  'Number of the newest deployment that `/v1/program/deploys` has; 0 where there is none.',
).min(0)

export const BASKET_VIEWS = ['reference', 'personal'] as const
export type BasketView = (typeof BASKET_VIEWS)[number]

const holding = {
  contributed_usd: dollars('What has come in.'),
  deployed_usd: dollars('What was spent, costs in.'),
  reserve_usd: dollars('What waits as cash.'),
  btc: bitcoin('What was bought.'),
  avg_cost_basis: averageCostBasis,
}

const simulationInput = record('What was simulated.', {
  equity_usd: number('What all contributions of the planned window sum to, US dollars.'),
  contribution_cadence_bars: z.int().min(1).describe('Bars from one contribution to the next.'),
})

export const programBasket = record('What the program holds.', {
  ...recordHead,
  view: word(
    '`reference`: the equity and cadence of the program; `personal`: those of the profile.',
    BASKET_VIEWS,
  ),
  as_of: instant('Close of the bar at which the basket is marked; null where there is none.').nullable(),
  deployment_state: deploymentState,
  ...simulationInput.shape,
  mark_price: dollars(
    'The newest close of the market, after the end of the window too; null where there is none.',
  ).nullable(),
  tiers: records('The basket by tier.', { ...tierWeight, ...holding }),
  totals: record('The whole basket.', {
    ...holding,
    market_value_usd: dollars('`btc` at the mark price, without the reserve.'),
    unrealized_pct: percent(
      'The mark price over the average cost, minus 1; null until something is bought.',
    ).nullable(),
    pct_deployed: pctDeployed,
  }),
  last_deploy_seq: lastDeploySeq,
}).meta({ id: 'ProgramBasket' })

export type ProgramBasket = z.infer<typeof programBasket>

export const programDeploy = namedRecord('ProgramDeploy', {
  ...recordHead,
  seq: z.int().min(1).describe('Strictly ascending number of the deployment in the program.'),
  deploy_id: text('Unique id, for de-duplication.'),
  timestamp: instant('Close of the bar that bought.'),
  tier: tierName,
  price: dollars('The close of that bar.'),
  weight: number('Fraction of the equity that was spent, 10 significant digits.'),
  usd: dollars('What was spent for the reference equity, costs in.'),
  btc: bitcoin('What it brought.'),
  cum_weight: number('Fraction of the equity spent so far, 10 significant digits.'),
  avg_cost_basis: dollars('Dollars spent for one BTC so far, costs in.'),
})

export const programDeploys = list(
  'The deployments of the reference basket, ascending. One that was published never changes.',
  programDeploy,
)

export type ProgramDeploy = z.infer<typeof programDeploy>

/** What `?benchmark=` may name. */
export const PERFORMANCE_BENCHMARKS = ['dca', 'hodl', 'lump_sum'] as const
export type PerformanceBenchmark = (typeof PERFORMANCE_BENCHMARKS)[number]

export const programPerformance = record('The program held against one benchmark.', {
  ...recordHead,
  benchmark: word(
    '`dca`: each contribution spent at once. `vwap`: volume-weighted mean price. `lump_sum`: everything at the first ' +
      'close. `hodl`: the first close, held already. The first and the third pay the costs of the program.',
    BENCHMARK_NAMES,
  )
    .extract(PERFORMANCE_BENCHMARKS)
    .describe('What it is held against.'),
  as_of: asOf,
  window: programWindow,
  avg_cost_basis: averageCostBasis,
  benchmark_value: benchmarkValue,
  pct_cheaper: pctCheaper,
  advantage_bps: advantageBps,
  pct_capital_cheapest_quartile: cheapestQuartile,
  pct_deployed: pctDeployed,
  btc_vs_benchmark_pct: btcVsBenchmark,
  at_equal_cash: record(
    'The same comparison with a benchmark that has spent as much as the program, and no more: `dca` spends each ' +
      'contribution at once until then. The values of the others do not depend on the amount.',
    { value: benchmarkValue, pct_cheaper: pctCheaper, btc_vs_benchmark_pct: btcVsBenchmark },
  ),
  money_weighted_return_pct: percent(
    'Money-weighted return of a year: the rate at which all purchases, each from its close on, grow to the value of the BTC ' +
      'at the newest close; 365 days a year, without the reserve. Null before the first purchase is 30 days old.',
  ).nullable(),
  rolling,
}).meta({ id: 'ProgramPerformance' })

export type ProgramPerformance = z.infer<typeof programPerformance>

const instrument = text('Identifier of the spot pair.')
const tvStatus = word(
  'Cross-check against an external charting tool: `not_applicable`, because none lists the trades of a program.',
  TV_STATUSES,
)

export const programPreview = record('The accumulation program in one page.', {
  ...recordHead,
  deployment_state: deploymentState,
  instrument,
  window: programWindow,
  tiers: tierList,
  avg_cost_basis: averageCostBasis,
  benchmarks: benchmarkComparisons,
  pct_capital_cheapest_quartile: cheapestQuartile,
  pct_deployed: pctDeployed,
  rolling,
  as_of: asOf,
  tv_status: tvStatus,
}).meta({ id: 'ProgramPreview' })

export const programManifest = record('What the accumulation program is.', {
  ...recordHead,
  instrument,
  deployment_state: deploymentState,
  tiers: tierList,
  window: programWindow,
  contribution_cadence_bars: z.int().min(1).describe('Bars from one contribution to the next.'),
  reference_equity_usd: number('The equity of the reference basket, US dollars.'),
  costs: record('What every purchase pays.', {
    fee_bps: number('Fee of a purchase, basis points.'),
    slippage_bps: number('Slippage of a purchase, basis points.'),
  }),
  benchmarks: benchmarkComparisons,
  last_deploy_seq: lastDeploySeq,
  dataset_version: text('The dataset version, a UTC instant.'),
  tv_status: tvStatus,
}).meta({ id: 'Program' })

export type ProgramPreview = z.infer<typeof programPreview>
export type ProgramManifest = z.infer<typeof programManifest>

export const programSimulation = record(
  'The program on another equity and cadence, over what has happened of its window.',
  {
    ...recordHead,
    input: simulationInput,
    total_usd_deployed: dollars('What was spent, costs in.'),
    total_btc_accumulated: bitcoin('What was bought.'),
    avg_cost_basis: averageCostBasis,
    benchmarks: byBenchmark(z.looseObject({ value: benchmarkValue, pct_cheaper: pctCheaper })).describe(
      'The same dollars by what anybody could have done instead; `dca` on the cadence of the input.',
    ),
  },
).meta({ id: 'ProgramSimulation' })

export type SimulationInput = ValueOf<typeof simulationInput>
export type ProgramSimulation = z.infer<typeof programSimulation>

export const programProfile = record('What `view=personal` is computed with, exactly as it was asked for.', {
  ...recordHead,
  ...simulationInput.shape,
  updated_utc: instant('When it was stored.'),
}).meta({ id: 'ProgramProfile' })
