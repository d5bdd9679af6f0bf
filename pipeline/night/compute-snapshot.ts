import { Tinypool } from 'tinypool'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { assembleCorrelation, type CorrelationMatrix, rowBlocks } from '#core/figures/correlation.ts'
import type { Period, Series } from '#core/figures/series.ts'
import type { ProgramData } from '#core/program/program.ts'
import type { Book } from '../book/book.ts'
import { BookError, type Problem } from '../book/problem.ts'
import { assembleSnapshot } from './assemble-snapshot.ts'
import { computeProgram } from './compute-program.ts'
import { computeStrategies, type StrategyOptions } from './compute-strategies.ts'
import { lastPublicDay, type WindowOptions } from './data-window.ts'
import { problemsOfStray } from './describe-thrown.ts'
import { threadEnvironment } from './thread-environment.ts'
import { verifySnapshot } from './verify-snapshot.ts'

export type NightOptions = WindowOptions &
  StrategyOptions & {
    /** The dataset version: an ISO instant. */
    readonly version: string
    readonly threads: number
  }

export type Night = {
  readonly snapshot: Snapshot
  /** Null in a book without one. */
  readonly program: ProgramData | null
  /** What an operator should know and that is no fault. */
  readonly notices: readonly string[]
}

/**
 * Computes the dataset of a book on worker threads, and its program. Throws a BookError with everything that is wrong
 * with any strategy; the result does not depend on the number of threads.
 */
export async function computeSnapshot(book: Book, options: NightOptions): Promise<Night> {
  const lastDay = lastPublicDay(book, options)
  const program = computeProgram(book, options)
  const pool = createPool(options.threads)
  const strays: unknown[] = []
  pool.on('error', error => strays.push(error)) // ended an idle thread; unheard, it would end the process
  try {
    const { strategies, notices } = await computeStrategies(pool, book, lastDay, options)
    const correlation = {
      daily: await correlate(pool, strategies, 'daily', options),
      weekly: await correlate(pool, strategies, 'weekly', options),
    }
    const snapshot = assembleSnapshot(book, options.version, strategies, correlation)
    verifySnapshot(snapshot)
    if (strays.length > 0) throw strays.shift()
    return { snapshot, program, notices }
  } catch (error) {
    throw withStrays(book, error, strays)
  } finally {
    await pool.destroy()
  }
}

/** Names the module behind an error that ended a thread, and tells the others of its kind with it. */
function withStrays({ dir, strategies }: Book, error: unknown, strays: readonly unknown[]): unknown {
  const problems = (thrown: unknown): readonly Problem[] =>
    thrown instanceof BookError ? thrown.problems : problemsOfStray(strategies, thrown)
  const own = problems(error)
  return own.length === 0 ? error : new BookError(dir, [...own, ...strays.flatMap(problems)])
}

const createPool = (threads: number): Tinypool =>
  new Tinypool({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    env: threadEnvironment(),
  })

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
