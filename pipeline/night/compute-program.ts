import { prepareProgram, programProblems } from '#core/program/prepare-program.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Book, BookProgram, SoundParts } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import { cutBars, lastCompleteDay, type WindowOptions } from './data-window.ts'

/** Null without a program. Its bars are sound, see `programFaults`. On this thread: it takes tenths of a second, once a night. */
export const computeProgram = ({ program }: Pick<Book, 'program'>, options: WindowOptions) =>
  program && prepareProgram(program.plan, happenedBars(program, options))

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
