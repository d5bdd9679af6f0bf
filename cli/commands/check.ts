import type { Command } from 'commander'
import { BookError, formatProblem } from '#pipeline/book/problem.ts'
import { type BookCheck, checkBook } from '#pipeline/night/check-book.ts'
import { addBookOptions, type BookOptions, toBookOrder } from '../options/build-options.ts'
import { printReport } from '../print/data-report.ts'
import type { Terminal } from '../print/terminal.ts'
import type { Runtime } from '../runtime.ts'

const ABOUT = `
Does everything that a build does before it publishes: reads every file, reports what the data cover and what was found in
them, replays every module, proves that its decisions do not depend on later bars, on chance or on memory outside of its
state, and compares the engine's daily returns with those computed again from its trades. The exit code is 1 if the book has a problem.

Examples:
  highwater check --book ./book
  highwater check --book ./book --as-of 2026-06-30 --json`

type Options = BookOptions & { readonly json?: boolean }

/** `highwater check`: validates a book without publishing it. */
export function defineCheck(command: Command, runtime: Runtime): void {
  addBookOptions(command)
    .option('--json', 'print the findings as one JSON document')
    .addHelpText('after', ABOUT)
    .action(async (options: Options) => {
      const { terminal, now, elapsed } = runtime
      const { book, ...order } = toBookOrder(options, runtime)
      const found = await checkBook(book, {
        ...order,
        nowMs: now(),
        elapsedMs: elapsed,
        progress: terminal.progress,
      })
      if (options.json) terminal.json(found)
      else printCheck(found, terminal)
      if (found.problems.length > 0) throw new BookError(found.dir, found.problems)
    })
}

/** A line a strategy; warnings and notices go to stderr. */
function printCheck(found: BookCheck, { print, note }: Terminal): void {
  const width = Math.max(...found.strategies.map(({ id }) => id.length), 'strategy'.length)
  const row = (id: string, ...cells: readonly string[]): string =>
    id.padEnd(width) + cells.map(cell => cell.padStart(CELL_WIDTH)).join('')
  printReport(found.report, print)
  if (found.strategies.length > 0) print(row('strategy', 'source', 'days', 'trades', 'verified', 'result'))
  for (const each of found.strategies) print(row(each.id, ...cellsOf(each)))
  if (found.program !== null) print(`program ${found.program}`)
  for (const warning of found.warnings) note(`warning: ${formatProblem(warning)}`)
  for (const notice of found.notices) note(`note: ${notice}`)
  if (found.problems.length === 0)
    print(`no problems: a build would publish the days up to ${found.window_to}`)
}

const CELL_WIDTH = 12

const cellsOf = ({ source, sound, history }: BookCheck['strategies'][number]): string[] => [
  source,
  String(history?.days ?? '-'),
  String(history?.trades ?? '-'),
  history?.verification.replace('_verified', '') ?? '-',
  sound ? 'ok' : 'FAILED',
]
