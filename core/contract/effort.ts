/** How hard a version is compressed: `best` makes the smallest files, `quick` the fastest build. */
export const EFFORTS = ['best', 'good', 'quick'] as const
export type Effort = (typeof EFFORTS)[number]

/** The same for every book: docs/decisions/2026-11-22-how-hard-to-compress.md has the measurements. */
export const DEFAULT_EFFORT: Effort = 'good'
