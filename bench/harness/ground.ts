// What every part stands on: a folder of its own, the published sample book, and what must be stopped at the end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SAMPLE_VERSION } from '#pipeline/sample/write-sample-book.ts'
import { ROOT, runProgram } from './programs.ts'

export type PublishedStore = { readonly folder: string; readonly url: string; readonly version: string }

export type Ground = {
  readonly folder: string
  readonly sample: PublishedStore
  /** Called in reverse order when the part is done, whatever became of it. */
  readonly stops: (() => Promise<void>)[]
}

const COMMAND = join(ROOT, 'cli/highwater.ts')

/** Does a work on a ground of its own, and leaves nothing behind. */
export async function onGround<T>(work: (ground: Ground) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-bench-'))
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    return await work({ folder, stops, sample: await publishSample(folder) })
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/** `HIGHWATER_BENCH_STORE` names a store that keeps the sample book from one run to the next. */
async function publishSample(folder: string): Promise<PublishedStore> {
  const kept = process.env.HIGHWATER_BENCH_STORE
  const store = kept ?? join(folder, 'sample')
  const { href: url } = pathToFileURL(store)
  if (kept === undefined) {
    const book = join(folder, 'book')
    await runProgram(process.execPath, [COMMAND, 'sample', book])
    const order = ['--book', book, '--store', url, '--as-of', '2026-06-30', '--version', SAMPLE_VERSION]
    await runProgram(process.execPath, [COMMAND, 'build', ...order])
  }
  return { folder: store, url, version: SAMPLE_VERSION }
}
