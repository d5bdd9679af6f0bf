import { hostname } from 'node:os'
import { toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import type { Book } from '#pipeline/book/book.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'

/** What a build read: every file with its digest, and how far each set of bars reaches. */
export const describeInputs = ({ inputs, bars, program }: Book): object => ({
  inputs: [...inputs].sort((a, b) => (a.path < b.path ? -1 : 1)), // files are read side by side
  bars: [...new Set([...bars.values(), ...(program === null ? [] : [program.bars])])].map(
    ({ path, bars, gaps }) => ({
      path,
      bars: bars.t.length,
      last_open: toIsoInstant(bars.t.at(-1)!),
      gaps: gaps.length,
      bars_missing: gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
    }),
  ),
})

/** The private note on a build: on which machine it ran, and how many milliseconds each step took. */
export const recordBuild = (
  privateStore: ObjectStore,
  version: string,
  timings_ms: Readonly<Record<string, number>>,
): Promise<void> =>
  privateStore.replace(
    privateKey(version, 'build.json'),
    toJsonBytes({ version, host: hostname(), timings_ms }),
    { content_type: 'application/json' },
  )
