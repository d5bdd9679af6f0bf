import type { Effort } from '#core/contract/effort.ts'

/** At `best` so many strategies of ten years, with their trades, take two to three minutes on two cores. */
const MOST_AT_BEST = 200

/** The effort of a book that nobody said another for: of its size alone, so that every machine makes the same bytes of it. */
export const effortFor = (strategies: number): Effort => (strategies <= MOST_AT_BEST ? 'best' : 'good')
