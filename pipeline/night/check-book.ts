import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { lastDay as lastDayOfSeries } from '#core/figures/series.ts'
import type { SoundParts, StrategyEntry } from '../book/book.ts'
import { createProblemList, formatProblem } from '../book/problem.ts'
import { readSound } from '../book/read-book.ts'
import { judgeRecords } from '../report/data-report.ts'
import { lastDayOf, type WindowOptions } from './data-window.ts'
import { examineBook } from './examine-book.ts'
import { type RunOptions, runStrategies, toTask } from './run-strategies.ts'
import { createThreads } from './threads.ts'
import type { StrategyCheck } from './worker.ts'

type CheckOptions = WindowOptions & RunOptions

/** What a check found: a book without problems is one that a build accepts. */
export type BookCheck = Awaited<ReturnType<typeof checkBook>>

/** Makes every history that can be made, so that all problems are found at once. Throws for an as-of day that is not over. */
export async function checkBook(dir: string, options: CheckOptions) {
  const { sound, problems, warnings, report } = await readSound(dir, examineBook(options))
  const list = createProblemList()
  const last = sound === null ? Number.NaN : lastDayOf(sound, options)
  const found =
    sound === null || !Number.isFinite(last) ? NOTHING : await checkStrategies(sound, last, options)
  const unique = new Map([...problems, ...found.problems].map(each => [formatProblem(each), each]))
  unique.forEach(list.add)
  return {
    dir,
    /** The last public day, null if it is not known. */
    window_to: Number.isFinite(last) ? toIsoDate(last) : null,
    /** The strategies that could be read, in the order of the catalogue. */
    strategies: found.strategies,
    /** The alias of the accumulation program, null in a book without one. */
    program: sound?.program?.plan.alias ?? null,
    report: [...report, ...found.records],
    /** By file and line. */
    problems: list.sorted(),
    warnings: [...warnings, ...found.unused],
    notices: found.notices,
  }
}

const NOTHING = { strategies: [], problems: [], records: [], unused: [], notices: [] }

async function checkStrategies(sound: SoundParts, last: EpochDay, options: CheckOptions) {
  const entries = sound.strategies.filter(entry => isInWindow(sound, entry, last))
  const threads = createThreads(options.threads)
  const work = { name: 'check', step: 'check', extra: {} } as const
  const parts = { ...sound, strategies: entries }
  const outcomes = await runStrategies<StrategyCheck>(threads, work, parts, last, options).finally(() =>
    threads.close(),
  )
  const checked = outcomes.map(each =>
    each.kind === 'checked'
      ? { ...each, problems: [] }
      : { ...each, history: null, record: null, notices: each.notices ?? [] },
  )
  const drafts = checked.flatMap(({ record }) => record ?? [])
  const { refused, ...judged } = judgeRecords(drafts, sound)
  const problems = checked.map((each, i) => [...each.problems, ...(refused.get(entries[i]!.id) ?? [])])
  return {
    ...judged,
    strategies: entries.map(({ id, source }, i) => ({
      ...{ id, source: source.kind, sound: problems[i]!.length === 0, history: checked[i]!.history },
    })),
    problems: problems.flat(),
    notices: checked.flatMap(({ notices }) => notices),
  }
}

/** Whether the data of a strategy reach into the window; if they do not, the book has a problem. */
function isInWindow(sound: SoundParts, entry: StrategyEntry, last: EpochDay): boolean {
  const { source, inception } = entry
  if (inception !== null && inception > last) return false
  if (source.kind === 'returns')
    return source.daily.first <= last && lastDayOfSeries(source.daily) >= source.daily.first
  const { bars } = toTask(sound, entry, last)
  return bars !== null && bars.t.length > 0
}
