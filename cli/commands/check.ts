import { BookError, formatProblem } from '#pipeline/book/problem.ts'
import { type BookCheck, checkBook } from '#pipeline/night/check-book.ts'
import { BOOK_OPTIONS, toBookOrder } from '../options/build-options.ts'
import { define, flag } from '../options/command.ts'
import { printReport } from '../print/data-report.ts'
import { type Terminal, toTable } from '../print/terminal.ts'

const ABOUT = `
Does everything that a build does before it publishes: reads every file, reports what the data cover and what was found in
them, replays every module, proves that its decisions do not depend on later bars, on chance or on memory outside of its
state, and compares the engine's daily returns with those computed again from its trades. The exit code is 1 if the book has a problem.

Examples:
  highwater check --book ./book
  highwater check --book ./book --as-of 2026-06-30 --json`

export const defineCheck = define(
  { ...BOOK_OPTIONS, json: flag('print the findings as one JSON document') },
  ABOUT,
  async (options, runtime) => {
    const { terminal, now, elapsed } = runtime
    const { book, ...order } = toBookOrder(options, runtime)
    const times = { nowMs: now(), elapsedMs: elapsed }
    const found = await checkBook(book, { ...order, ...times, progress: terminal.progress })
    if (options.json) terminal.json(found)
    else printCheck(found, terminal)
    if (found.problems.length > 0) throw new BookError(found.dir, found.problems)
  },
)

/** A line a strategy; warnings and notices go to stderr. */
function printCheck(found: BookCheck, { print, note }: Terminal): void {
  printReport(found.report, print)
  const rows = found.strategies.map(({ id, source, sound, history }) => [
    id,
    source,
    String(history?.days ?? '-'),
    String(history?.trades ?? '-'),
    history?.verification.replace('_verified', '') ?? '-',
    sound ? 'ok' : 'FAILED',
  ])
  const table = [['strategy', 'source', 'days', 'trades', 'verified', 'result'], ...rows]
  const width = Math.max(...table.map(([id = '']) => id.length))
  if (rows.length > 0) for (const line of toTable(table, width, 12)) print(line)
  if (found.program !== null) print(`program ${found.program}`)
  for (const warning of found.warnings) note(`warning: ${formatProblem(warning)}`)
  for (const notice of found.notices) note(`note: ${notice}`)
  if (found.problems.length === 0)
    print(`no problems: a build would publish the days up to ${found.window_to}`)
}
