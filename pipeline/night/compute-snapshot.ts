import { DAY_MS, type EpochDay, parseIsoDate, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { FundingCoverage } from '#core/contract/payloads/dataset.ts'
import { toPercent, toPublishedSeries } from '#core/contract/rounding.ts'
import { METHOD_REVISION } from '#core/dataset/definitions.ts'
import type { Benchmark, DateWindow, Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { bookFigures } from '#core/figures/book.ts'
import {
  assembleCorrelation,
  type CorrelationMatrix,
  type CorrelationRows,
  rowBlocks,
} from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { lastDay, type Period, type Series, sliceSeries } from '#core/figures/series.ts'
import { countProgress } from '#core/progress.ts'
import { buyAndHold, type Funding, toShared } from '#core/replay/bars.ts'
import { fundingGaps, fundingIntervals, missingPayments } from '#core/replay/funding-coverage.ts'
import { sha256 } from '#storage/digest.ts'
import type { Book } from '../book/book.ts'
import { BookError, formatProblem } from '../book/problem.ts'
import type { ModuleFile } from '../modules/realm.ts'
import { acceptedFindings, judgeRecords } from '../report/data-report.ts'
import { computeProgram } from './compute-program.ts'
import type { ComputedStrategy, StrategyTask } from './compute-strategy.ts'
import { cutBars, lastDayOf, type WindowOptions } from './data-window.ts'
import type { Refused } from './histories.ts'
import { type Parts, type Ran, type RunOptions, runStrategies } from './run-strategies.ts'
import { createThreads, type Threads } from './threads.ts'

export type NightOptions = WindowOptions &
  RunOptions & {
    /** The dataset version: an ISO instant. */
    readonly version: string
    /** Does the work instead of the threads of this process. */
    readonly fleet?: Computer
  }

/** Computes what is published of each strategy, and of all pairs of them. */
export type Computer = {
  /** The outcomes are in the order of the strategies. */
  readonly strategies: (
    parts: Parts,
    lastDay: EpochDay,
    extra: Pick<StrategyTask, 'service' | 'benchmarks'>,
  ) => Promise<readonly (Ran<ComputedStrategy> | Refused)[]>
  readonly correlation: (strategies: readonly StrategyData[]) => Promise<Snapshot['correlation']>
}

export type Night = Awaited<ReturnType<typeof computeSnapshot>>

/** Computes dataset and program of a book, the same on threads or a fleet. Throws a BookError with all that is wrong. */
export async function computeSnapshot(book: Book, options: NightOptions) {
  const lastDay = lastDayOf(book, options)
  const program = computeProgram(book, options)
  const threads = createThreads(options.threads)
  const computer = options.fleet ?? computerOn(threads, options)
  try {
    const benchmarks = benchmarksOf(book, lastDay)
    const computed = await computeStrategies(computer, book, lastDay, benchmarks)
    const { strategies, ...rest } = computed
    const correlation = await computer.correlation(strategies)
    const snapshot: Snapshot = {
      ...assembleSnapshot(book, options.version, computed, correlation, lastDay),
      benchmarks: publishedBenchmarks(benchmarks, strategies),
    }
    strategies.forEach(verifyStrategy)
    return { snapshot, program, ...rest }
  } finally {
    await threads.close()
  }
}

/** Computes every strategy. Throws a BookError with everything that is wrong with any of them. */
async function computeStrategies(computer: Computer, book: Book, lastDay: EpochDay, benchmarks: Benchmark[]) {
  const { engine, data_source, methodology_url } = book.service
  const service = { engine, data_source, methodology_url }
  const outcomes = await computer.strategies(book, lastDay, { service, benchmarks })
  const problems = outcomes.flatMap(each => (each.kind === 'refused' ? each.problems : []))
  const computed = outcomes.filter(each => each.kind === 'computed')
  const drafts = computed.map(({ record }) => record)
  const { records, refused, unused } = judgeRecords(drafts, book)
  problems.push(...[...refused.values()].flat())
  if (problems.length > 0) throw new BookError(book.dir, problems)
  return {
    strategies: computed.map(({ data, files }) => ({ ...data, rules_sha256: rulesDigest(files) })),
    /** For the operator, and no errors. */
    notices: [...computed.flatMap(({ notices }) => notices), ...unused.map(formatProblem)],
    /** What is implausible in the records, as far as the catalogue accepts it. */
    records,
    /** The files that the module of each strategy consists of, from `strategies/` on. */
    modules: new Map(
      computed.filter(({ files }) => files.length > 0).map(({ data, files }) => [data.id, files]),
    ),
  }
}

/** What `sha256sum FILES | sha256sum` prints in the folder of the modules, for the files by path; null without a module. */
export function rulesDigest(files: readonly ModuleFile[]): string | null {
  if (files.length === 0) return null
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return sha256(sorted.map(file => `${file.sha256}  ${file.path}\n`).join(''))
}

const computerOn = (threads: Threads, options: NightOptions): Computer => ({
  strategies: (parts, lastDay, extra) =>
    runStrategies(threads, { name: 'strategy', step: 'compute', extra }, parts, lastDay, options),
  correlation: async strategies => ({
    daily: await correlate(threads, strategies, 'daily', options),
    weekly: await correlate(threads, strategies, 'weekly', options),
  }),
})

/** Rows of the matrix in blocks: more than threads, so that none waits long for the last; each standardises all series again. */
const BLOCKS_PER_THREAD = 2

async function correlate(
  threads: Threads,
  strategies: readonly StrategyData[],
  period: Period,
  { progress, threads: count }: NightOptions,
): Promise<CorrelationMatrix> {
  const series = strategies.map(({ [period]: own }) => ({ ...own, values: toShared(own.values) }))
  const blocks = rowBlocks(series.length, BLOCKS_PER_THREAD * count)
  const counted = countProgress(progress, `correlate ${period}`, blocks.length, 'blocks')
  const rows = await Promise.all(
    blocks.map(async ([fromRow, toRow]) => {
      const block = await threads.run<CorrelationRows>('correlation', { series, fromRow, toRow })
      counted()
      return block
    }),
  )
  return assembleCorrelation(series.length, rows)
}

/** Puts the computed strategies and matrices together, and computes what is true of all together. */
function assembleSnapshot(
  { service: { benchmark: _, ...service }, ...sound }: Book,
  version: string,
  { strategies, records }: Pick<Awaited<ReturnType<typeof computeStrategies>>, 'strategies' | 'records'>,
  correlation: Snapshot['correlation'],
  lastDay: EpochDay,
): Omit<Snapshot, 'benchmarks'> {
  const ids = strategies.map(({ id }) => id)
  return {
    dataset: {
      version,
      entered: null,
      ...service,
      window: coverage(strategies),
      funding: fundingCoverage(sound, (lastDay + 1) * DAY_MS),
      accepted_findings: acceptedFindings([...sound.report, ...records], (lastDay + 1) * DAY_MS),
      history_restated: false,
      method_revision: METHOD_REVISION,
      lineage: [],
      removed: [],
      seals: null,
    },
    strategies,
    correlation,
    book: splitFigures(bookFigures(strategies.map(({ daily }) => daily))),
    diversification: splitFigures(diversification(correlation.daily, ids)),
  }
}

/** The funding of each instrument that a strategy is replayed or marked on, up to the end of the window. */
function fundingCoverage({ strategies, funding }: Pick<Book, 'strategies' | 'funding'>, endMs: number) {
  const traded = strategies.filter(({ bars }) => bars !== null).map(({ instrument }) => instrument)
  return [...new Set(traded)].map(each => describeFunding(each, funding.get(each) ?? null, endMs))
}

function describeFunding(instrument: string, funding: Funding | null, endMs: number): FundingCoverage {
  const t = funding?.t.filter(ms => ms < endMs) ?? new Float64Array(0)
  // Later payments may be what shows the interval.
  const intervals = funding === null ? [] : fundingIntervals(funding)
  const gaps = fundingGaps({ t, intervals })
  const longestMs = Math.max(...gaps.map(({ from, to }) => to - from))
  return {
    instrument,
    from: t.length === 0 ? null : toIsoInstant(t[0]!),
    to: t.length === 0 ? null : toIsoInstant(t.at(-1)!),
    payments: t.length,
    gaps: gaps.length,
    longest_gap_hours: gaps.length === 0 ? null : toHours(longestMs),
    payments_missing: gaps.reduce((sum, gap) => sum + missingPayments(gap, intervals), 0),
    interval_basis: funding === null ? null : funding.intervals === undefined ? 'inferred' : 'stated',
    intervals: intervals
      .filter(({ from }) => from < endMs)
      .map(({ from, everyMs }) => ({
        from: Number.isFinite(from) ? toIsoInstant(from) : null,
        hours: toHours(everyMs),
      })),
  }
}

const toHours = (ms: number): number => toPercent(ms / 3_600_000)

const coverage = (strategies: readonly StrategyData[]): DateWindow => ({
  from: toIsoDate(Math.min(...strategies.map(({ daily }) => daily.first))),
  to: toIsoDate(Math.max(...strategies.map(({ daily }) => lastDay(daily)))),
})

/** The last check before publication, of what must hold for every strategy. A failure is our bug and ends the run. */
export function verifyStrategy(strategy: StrategyData): void {
  const { id, daily, weekly, window, trades, verification_state, figures } = strategy
  const assert = (holds: boolean, what: string): void => {
    if (!holds) throw new Error(`the computed history of ${id} is not fit to be published: ${what}`)
  }
  assert(verification_state !== 'failed', 'its verification failed')
  assert(isAllFinite(daily) && isAllFinite(weekly), 'a return is not finite')
  assert(parseIsoDate(window.from ?? '') === daily.first, 'its window does not begin with its series')
  assert(parseIsoDate(window.to ?? '') === lastDay(daily), 'its window does not end with its series')
  assert(figures.values.trade_count === trades.entry_time.length, 'its trade count is not that of its ledger')
}

const isAllFinite = ({ values }: Series): boolean => values.every(Number.isFinite)

/** Holding each instrument over all its bars up to the last public day; empty if the catalogue turns the comparison off. */
function benchmarksOf({ service, strategies, bars }: Book, last: EpochDay): Benchmark[] {
  if (!service.benchmark) return []
  const instruments = [...new Set(strategies.map(({ instrument }) => instrument))]
  return instruments.flatMap(instrument => {
    const files = [...bars].filter(([key]) => key.startsWith(`${instrument}/`)).map(([, file]) => file)
    // The bars that begin first, then the finest.
    const [longest] = files.sort(
      ({ bars: a }, { bars: b }) => a.t[0]! - b.t[0]! || a.timeframeMs - b.timeframeMs,
    )
    if (longest === undefined) return []
    const daily = toPublishedSeries(buyAndHold(cutBars(longest.bars, last)))
    return [{ instrument, daily: { ...daily, values: toShared(daily.values) } }]
  })
}

/** Each from the first to the last day of the strategies on its instrument. */
const publishedBenchmarks = (benchmarks: readonly Benchmark[], strategies: readonly StrategyData[]) =>
  benchmarks.map(({ instrument, daily }) => {
    const own = strategies.filter(strategy => strategy.instrument === instrument)
    const from = Math.min(...own.map(strategy => strategy.daily.first))
    const to = Math.max(...own.map(strategy => lastDay(strategy.daily)))
    return { instrument, daily: sliceSeries(daily, from, to) }
  })
