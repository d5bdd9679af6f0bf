import { join } from 'node:path'
import { parseIsoDate } from '#core/calendar.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot, type Night } from '#pipeline/night/compute-snapshot.ts'
import type { Declarations } from '#static-build/declarations.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore } from '#storage/open-store.ts'
import type { S3Access } from '#storage/s3-access.ts'
import { NOTHING_DECLARED, orderOf } from '#test/static-build/hand-order.ts'

/** Four strategies over 420 days, one of each kind of source and a flat one; committed, because it is small. */
export const TINY_BOOK = join(import.meta.dirname, '../../fixtures/tiny-book')

export const TINY_VERSION = '2025-02-24T00:15:00Z'
export const TINY_LAST_DAY = '2025-02-22'

export type Stores = {
  readonly url: string
  readonly privateUrl: string
  /** How they are reached where they are buckets. */
  readonly s3?: S3Access
}

export type PublishOptions = {
  readonly version?: string
  /** The last day of the window. */
  readonly asOf?: string
  readonly threads?: number
  readonly declared?: Declarations
}

/** Computes the dataset of a book, as a night does, without publishing it. */
export async function computeBook(book: string, options: PublishOptions = {}): Promise<Night> {
  const version = options.version ?? TINY_VERSION
  return computeSnapshot(await readBook(book), {
    version,
    nowMs: Date.parse(version),
    asOf: parseIsoDate(options.asOf ?? TINY_LAST_DAY),
    allowStale: false,
    threads: options.threads ?? 1,
    progress: () => {},
    elapsedMs: () => performance.now(),
  })
}

/** Builds and publishes a version of a book. */
export async function publishBook(
  book: string,
  { url, privateUrl, s3 }: Stores,
  options: PublishOptions = {},
) {
  const night = await computeBook(book, options)
  const stores = { store: await openStore(url, s3), privateStore: await openStore(privateUrl, s3) }
  const published = await publishVersion({
    ...orderOf(options.version ?? TINY_VERSION, stores),
    ...{ snapshot: night.snapshot, program: night.program },
    ...{ threads: options.threads ?? 1, declared: options.declared ?? NOTHING_DECLARED },
  })
  return { ...night, ...published }
}
