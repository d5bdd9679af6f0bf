import { hostname } from 'node:os'
import { toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import type { Book } from '#pipeline/book/book.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'

type BuildRecord = {
  readonly book: Book
  readonly manifest: Manifest
  /** Milliseconds spent in each step. */
  readonly timings: Readonly<Record<string, number>>
}

/** The private record of a build: what went in, on which machine, and how long it took. */
export async function recordBuild(
  privateStore: ObjectStore,
  { book, manifest, timings }: BuildRecord,
): Promise<void> {
  const record = {
    version: manifest.version,
    host: hostname(),
    built_with: manifest.built_with,
    timings_ms: timings,
    inputs: book.inputs,
    bars: [...book.bars.values()].map(({ path, bars, gaps }) => ({
      path,
      bars: bars.t.length,
      last_open: toIsoInstant(bars.t.at(-1)!),
      gaps: gaps.length,
      bars_missing: gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
    })),
  }
  await privateStore.replace(privateKey(manifest.version, 'build.json'), toJsonBytes(record), {
    content_type: 'application/json',
  })
}
