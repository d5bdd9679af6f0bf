import { prepareProgram, programProblems } from '#core/program/prepare-program.ts'
import type { ProgramData } from '#core/program/program.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Book, BookProgram, SoundParts } from '../book/book.ts'
import { BookError, type Problem } from '../book/problem.ts'
import { cutBars, lastCompleteDay, type WindowOptions } from './data-window.ts'

/** Null without a program. Throws a BookError with all that is wrong. On this thread: it takes tenths of a second, once a night. */
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

/** Closed by the last complete day or the as-of day. No embargo: it hides live positions, while purchases are published. */
function happenedBars({ bars: { bars } }: BookProgram, { asOf }: WindowOptions): Bars {
  const last = lastCompleteDay(bars)
  return cutBars(bars, Math.min(last, asOf ?? last))
}
