/**
 * How hard a version is compressed, from the smallest files to the quickest build: `best` for books of the usual size, `good`
 * where that would take a night, `quick` where somebody waits.
 */
export const EFFORTS = ['best', 'good', 'quick'] as const
export type Effort = (typeof EFFORTS)[number]
