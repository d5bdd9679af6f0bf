import type { Effort } from '#core/contract/effort.ts'

/** On two cores so many strategies of ten years with their trades take some three minutes at `best`, and twice as many six. */
const MOST_AT_BEST = 200

/** The effort of a book that nobody said another for: of its size alone, so that every machine makes the same bytes of it. */
export const effortFor = (strategies: number): Effort => (strategies <= MOST_AT_BEST ? 'best' : 'good')
