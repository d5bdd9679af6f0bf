import { DAY_MS } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import { firstCompleteDay } from '#core/replay/daily.ts'
import type { BarsKey, Book, StrategyEntry } from '#pipeline/book/book.ts'
import type { Stepper } from '#pipeline/live/stepper.ts'
import type { LiveStrategy } from '#signals/live/live-strategy.ts'
import { UsageError } from '../usage-error.ts'

/** The module strategies of a book that are to run, by the bars that they run on. */
export function liveEntries(
  book: Book,
  wanted: readonly string[],
): ReadonlyMap<BarsKey, readonly StrategyEntry[]> {
  const modules = book.strategies.filter(({ source }) => source.kind === 'module')
  const unknown = wanted.filter(id => !modules.some(entry => entry.id === id))
  if (unknown.length > 0) {
    const known = modules.map(({ id }) => id).join(', ')
    throw new UsageError(
      `--strategy: expected a module of the book (${known}), got '${unknown.join("', '")}'`,
    )
  }
  const chosen = wanted.length === 0 ? modules : modules.filter(({ id }) => wanted.includes(id))
  if (chosen.length === 0) {
    throw new UsageError(
      `the book in ${book.dir} has no module: a ledger is fired by POST /ops/signals, not live`,
    )
  }
  return Map.groupBy(chosen, ({ bars }) => bars!) // a module has bars, or the book would not be sound
}

/** A strategy of a book as the runner sees it; its module runs on a thread. */
export async function toLiveStrategy(
  stepper: Stepper,
  entry: StrategyEntry,
  { funding }: Book,
  bars: Bars,
): Promise<LiveStrategy> {
  const own = { entry, funding: funding.get(entry.instrument) ?? null }
  const ordersFromMs = (entry.inception ?? firstCompleteDay(bars)) * DAY_MS
  const version = await stepper.version(own)
  return {
    alias: entry.id,
    version,
    timeframeMs: bars.timeframeMs,
    baseRisk: entry.base_risk_pct,
    catalogueMode: entry.mode,
    replay: async known =>
      (await stepper.replay({ ...own, bars: known, reportFromMs: Number.POSITIVE_INFINITY })).state,
    async step(state, bar) {
      const stepped = await stepper.step({ ...own, ordersFromMs, state, bar })
      if (stepped.version === version) return stepped
      throw new Error(
        `${entry.id} became version ${stepped.version} while version ${version} runs: start the runner again`,
      )
    },
  }
}
