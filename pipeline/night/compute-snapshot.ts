import { Tinypool } from 'tinypool'
import type { EpochDay } from '#core/calendar.ts'
import { assembleCorrelation, rowBlocks } from '#core/numerics/assemble-correlation.ts'
import type { CorrelationMatrix } from '#core/numerics/correlation.ts'
import type { Period, Series } from '#core/numerics/series.ts'
import type { Progress } from '#core/progress.ts'
import type { Snapshot, StrategyData } from '#core/snapshot/snapshot.ts'
import type { Book, StrategyEntry } from '../book/book.ts'
import { BookError, type Problem } from '../book/problem.ts'
import { assembleSnapshot } from './assemble-snapshot.ts'
import { cutBars, lastPublicDay, type WindowOptions } from './data-window.ts'
import type { StrategyOutcome, StrategyTask } from './task.ts'
import { verifySnapshot } from './verify-snapshot.ts'
import { STALL_MS, watchPulses } from './watch.ts'

export type NightOptions = WindowOptions & {
  /** The dataset version: an ISO instant. */
  readonly version: string
  readonly threads: number
  readonly progress: Progress
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
  /** How long a strategy may stand still. */
  readonly stallMs?: number
}

export type Night = {
  readonly snapshot: Snapshot
  /** What an operator should know and that is no fault. */
  readonly notices: readonly string[]
}

/**
 * Computes the dataset of a book on worker threads. Throws a BookError with everything that is wrong with any
 * strategy, or a StalledError; the result does not depend on the number of threads.
 */
export async function computeSnapshot(book: Book, options: NightOptions): Promise<Night> {
  const lastDay = lastPublicDay(book, options)
  const pool = createPool(options.threads)
  try {
    const { strategies, notices } = await computeStrategies(pool, book, lastDay, options)
    const correlation = {
      daily: await correlate(pool, strategies, 'daily', options),
      weekly: await correlate(pool, strategies, 'weekly', options),
    }
    const snapshot = assembleSnapshot(book, options.version, strategies, correlation)
    verifySnapshot(snapshot)
    return { snapshot, notices }
  } finally {
    await pool.destroy()
  }
}

const createPool = (threads: number): Tinypool =>
  new Tinypool({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    env: {}, // a strategy module is trusted code, but it has no business with our secrets
  })

async function computeStrategies(
  pool: Tinypool,
  book: Book,
  lastDay: EpochDay,
  { progress, elapsedMs, stallMs = STALL_MS }: NightOptions,
): Promise<{ strategies: StrategyData[]; notices: string[] }> {
  const pulses = new Map(book.strategies.map(({ id }) => [id, new Int32Array(new SharedArrayBuffer(4))]))
  const watch = watchPulses(pulses, stallMs, elapsedMs)
  let done = 0
  const tell = () => progress({ step: 'compute', done, total: book.strategies.length, unit: 'strategies' })
  tell()
  const run = async (entry: StrategyEntry): Promise<StrategyOutcome> => {
    const outcome = await runStrategy(pool, toTask(book, entry, lastDay, pulses.get(entry.id)!))
    pulses.delete(entry.id)
    done++
    tell()
    return outcome
  }
  try {
    const outcomes = await Promise.race([Promise.all(book.strategies.map(run)), watch.stalled])
    return collect(book, outcomes)
  } finally {
    watch.end()
  }
}

function toTask(book: Book, entry: StrategyEntry, lastDay: EpochDay, pulse: Int32Array): StrategyTask {
  const { engine, data_source, methodology_url } = book.service
  const file = entry.bars === null ? undefined : book.bars.get(entry.bars)
  return {
    entry,
    service: { engine, data_source, methodology_url },
    bars: file === undefined ? null : cutBars(file.bars, lastDay),
    funding: book.funding.get(entry.instrument) ?? null,
    lastDay,
    pulse,
  }
}

/** What a module throws is a problem of its file, beside the problems of all others. */
async function runStrategy(pool: Tinypool, task: StrategyTask): Promise<StrategyOutcome> {
  try {
    return await pool.run(task, { name: 'strategy' })
  } catch (error) {
    const { id, source } = task.entry
    const file =
      source.kind === 'module'
        ? `strategies/${id}.ts`
        : source.kind === 'ledger'
          ? source.path
          : `returns/${id}.csv`
    return { kind: 'refused', problems: [{ file, message: describeError(error) }] }
  }
}

const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function collect(
  book: Book,
  outcomes: readonly StrategyOutcome[],
): { strategies: StrategyData[]; notices: string[] } {
  const problems: Problem[] = []
  const strategies: StrategyData[] = []
  const notices: string[] = []
  for (const outcome of outcomes) {
    if (outcome.kind === 'refused') problems.push(...outcome.problems)
    else {
      strategies.push(outcome.data)
      notices.push(...outcome.notices)
    }
  }
  if (problems.length > 0) throw new BookError(book.dir, problems)
  return { strategies, notices }
}

/** Rows of the matrix in blocks: more blocks than threads, so that none waits long for the last. */
const BLOCKS = 16

async function correlate(
  pool: Tinypool,
  strategies: readonly StrategyData[],
  period: Period,
  { progress }: NightOptions,
): Promise<CorrelationMatrix> {
  const series = strategies.map(strategy => toShared(strategy[period]))
  const blocks = rowBlocks(series.length, BLOCKS)
  let done = 0
  const tell = () => progress({ step: `correlate ${period}`, done, total: blocks.length, unit: 'blocks' })
  tell()
  const rows = await Promise.all(
    blocks.map(async ([fromRow, toRow]) => {
      const block = await pool.run({ series, fromRow, toRow }, { name: 'correlation' })
      done++
      tell()
      return block
    }),
  )
  return assembleCorrelation(series.length, rows)
}

function toShared(series: Series): Series {
  const values = new Float64Array(new SharedArrayBuffer(series.values.byteLength))
  values.set(series.values)
  return { ...series, values }
}
