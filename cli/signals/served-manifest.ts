import type { Manifest } from '#core/contract/manifest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-manifest.ts'

/** How often the served version is looked at: what is published is known this long after. */
const LOOK_MS = 5_000

/** What the signals service needs of a manifest, which names every file of a version and is large. */
export type ServedManifest = Pick<Manifest, 'version' | 'strategies' | 'program_sha256'>

/** Who wants to know what is served. */
export type ManifestReader = {
  /** Given each manifest once; where it rejects, the same one again at every look until it does not. */
  readonly take: (manifest: ServedManifest) => void | Promise<void>
  /** Told where the manifest cannot be read, or was not taken. */
  readonly onError: (error: unknown) => void
}

/** Looks at the served version for everyone who wants to know it. */
export type FollowedManifest = {
  /** Adds a reader, and resolves when it was given what is served now; nothing as long as nothing is. */
  readonly add: (reader: ManifestReader) => Promise<void>
  readonly stop: () => void
}

/** Looks again and again from now on. */
export function followManifest(store: ObjectStore): FollowedManifest {
  const { add, look } = createManifestFollower(store)
  const timer = setInterval(() => void look(), LOOK_MS)
  return { add, stop: () => clearInterval(timer) }
}

/** The same without the timer: `look` never rejects. */
export function createManifestFollower(store: ObjectStore) {
  const readers: { readonly reader: ManifestReader; seen: string }[] = []
  let last: { readonly sha256: string; readonly manifest: ServedManifest } | null = null
  let looking: Promise<void> | null = null

  const read = async (): Promise<typeof last> => {
    const head = await readHead(store)
    if (head === null || head.entry.manifest_sha256 === last?.sha256) return last
    const { version, strategies, program_sha256 } = await readManifest(store, head.entry)
    last = { sha256: head.entry.manifest_sha256, manifest: { version, strategies, program_sha256 } }
    return last
  }
  const hand = async (served: NonNullable<typeof last>, to: (typeof readers)[number]): Promise<void> => {
    if (to.seen === served.sha256) return
    await to.reader.take(served.manifest)
    to.seen = served.sha256
  }
  const lookOnce = async (): Promise<void> => {
    try {
      const served = await read()
      if (served === null) return
      await Promise.all(readers.map(to => hand(served, to).catch(to.reader.onError)))
    } catch (error) {
      for (const { reader } of readers) reader.onError(error)
    }
  }
  /** One at a time: a slow one would put an older version in the place of a newer one. */
  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = null
    })
    return looking
  }
  const add = async (reader: ManifestReader): Promise<void> => {
    await looking // which knows nothing of this one
    readers.push({ reader, seen: '' })
    await look()
  }
  return { add, look }
}
