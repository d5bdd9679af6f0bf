import { prepareProgram, programProblems } from '#core/program/prepare-program.ts'
import type { ProgramData } from '#core/program/program.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Book, BookProgram, SoundParts } from '../book/book.ts'
import { BookError, type Problem } from '../book/problem.ts'
import { cutBars, lastCompleteDay, type WindowOptions } from './data-window.ts'

/**
 * The data of the book's program, null if it has none. Throws a BookError with everything that keeps it from
 * being computed. On the thread that calls it: for ten years of daily bars it takes some tenths of a second,
 * once a night, while the threads have not even started.
 */
export function computeProgram(book: Book, options: WindowOptions): ProgramData | null {
  if (book.program === null) return null
  const problems = programFaults(book, options)
  if (problems.length > 0) throw new BookError(book.dir, problems)
  return prepareProgram(book.program.plan, happenedBars(book.program, options))
}

/** What is wrong with the bars of a program that was read: missing ones, volumes that cannot be. */
export const programFaults = ({ program }: Pick<SoundParts, 'program'>, options: WindowOptions): Problem[] =>
  program === null
    ? []
    : programProblems(program.plan, happenedBars(program, options)).map(message => ({
        file: program.bars.path,
        message: `${program.plan.alias}: ${message}`,
      }))

/**
 * The bars that had closed by the last complete day, or the as-of day. An embargo does not apply: it hides
 * the live position of a strategy, while the purchases of a program are published to all entitled clients.
 */
function happenedBars({ bars: { bars } }: BookProgram, { asOf }: WindowOptions): Bars {
  const last = lastCompleteDay(bars)
  return cutBars(bars, Math.min(last, asOf ?? last))
}
