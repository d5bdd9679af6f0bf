// Field types that the records of the accumulation program share.
import { z } from 'zod'
import { BENCHMARK_NAMES, type BenchmarkName } from '#core/program/benchmarks.ts'
import { DEPLOYMENT_STATES } from '#core/program/deployment-state.ts'
import { TIER_NAMES } from '#core/program/program.ts'
import { isoDate, percent } from './field.ts'

/** Raised when a field of a record changes its meaning: subscribers pin it. */
export const PROGRAM_SCHEMA_VERSION = '1.0'

export const dollars = (about: string) => z.number().describe(`${about} US dollars, 10 significant digits.`)
export const bitcoin = (about: string) => z.number().describe(`${about} BTC, 10 significant digits.`)
export const instant = (about: string) => z.string().describe(`${about} UTC, ISO 8601.`)

/** How every record begins. */
export const recordHead = {
  schema_version: z.string().describe('Version of the records of the program, to be pinned.'),
  alias: z.string().describe('The program: its entitlement has this name.'),
}

export const deploymentState = z
  .enum(DEPLOYMENT_STATES)
  .describe(
    '`not_started` before the first bar of the window has closed, `complete` once its last has, `paused` while the ' +
      'operator has paused it, else `accumulating`.',
  )

export const tierName = z
  .enum(TIER_NAMES)
  .describe(
    '`core` spends each contribution at once, `cyclical` by how far the price is from its long mean, `tactical` in falls.',
  )

const weight = z.number().describe('Fraction of every contribution that the tier gets; the weights sum to 1.')

export const tierWeight = { tier: tierName, weight }

export const tierList = z
  .array(z.looseObject(tierWeight))
  .describe('The tiers, in the order in which they buy.')

export const programWindow = z
  .looseObject({
    bars: z.string().describe('Size of a bar: `1d`.'),
    from: isoDate('First UTC day, inclusive.'),
    to: isoDate('Last UTC day, inclusive; it may lie in the future.'),
    start_close: dollars('First close of the window; null until it has happened.').nullable(),
  })
  .describe('The planned window of the program.')

export const averageCostBasis = dollars(
  'Dollars spent for one BTC, costs in; null until something is bought.',
).nullable()

export const benchmarkName = z
  .enum(BENCHMARK_NAMES)
  .describe(
    '`dca`: each contribution spent at once. `vwap`: volume-weighted mean price. `lump_sum`: everything at the first ' +
      'close. `hodl`: the first close, held already. The first and the third pay the costs of the program.',
  )

export const benchmarkValue = dollars(
  'Average cost of one BTC by the benchmark, over what has happened; null until something has.',
).nullable()

export const pctCheaper = percent(
  '(1 - avg_cost_basis / value) x 100; null where there is nothing to compare.',
).nullable()

export const advantageBps = z
  .number()
  .nullable()
  .describe('The published `pct_cheaper` x 100, basis points, 4 decimals.')

/** One of a kind for each benchmark; there may be more of them one day. */
export const byBenchmark = <T extends z.ZodType>(of: T) =>
  z
    .object({
      dca: of.describe('Against each contribution spent at once.'),
      vwap: of.describe('Against the volume-weighted mean price.'),
      lump_sum: of.describe('Against everything spent at the first close.'),
      hodl: of.describe('Against the first close, held already.'),
    } satisfies Record<BenchmarkName, T>)
    .catchall(of)

export const benchmarkComparisons = byBenchmark(
  z.looseObject({ value: benchmarkValue, advantage_bps: advantageBps, pct_cheaper: pctCheaper }),
).describe('The program held against what anybody could have done instead.')

export const pctDeployed = percent(
  'Dollars spent of the dollars contributed; 0 before the first contribution.',
)

export const cheapestQuartile = z
  .number()
  .nullable()
  .describe(
    'Fraction of the dollars that were spent at closes in the cheapest quarter of the closes so far, 6 decimals; ' +
      'null until something is spent.',
  )

export const rolling = z
  .looseObject({
    windows: z.int().min(1).describe('Windows of a year, one from each bar that leaves room; they overlap.'),
    win_rate_pct: percent('Windows in which the program bought cheaper than `dca`.'),
    median_pct_cheaper: percent('Median of `pct_cheaper` against `dca`.'),
  })
  .nullable()
  .describe(
    'The same program on every year of the history, or null where it is too short: one window proves little.',
  )

export const asOf = instant('Close of the newest bar; null where there is none.').nullable()

export const lastDeploySeq = z
  .int()
  .min(0)
  .describe('Number of the newest deployment that `/v1/program/deploys` has; 0 where there is none.')
