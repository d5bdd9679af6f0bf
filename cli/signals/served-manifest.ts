import type { Manifest } from '#core/contract/manifest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-manifest.ts'

/** How often the served version is checked. */
const LOOK_MS = 5_000

/** The fields that the signals service needs: a manifest names every file of a version and is large. */
export type ServedManifest = Pick<Manifest, 'version' | 'strategies' | 'program_sha256'>

export type ManifestReader = {
  /** Called once per manifest, and again at every check while it rejects. */
  readonly take: (manifest: ServedManifest) => void | Promise<void>
  /** Called if the manifest cannot be read or `take` rejects. */
  readonly onError: (error: unknown) => void
}

/** Follows the served version. */
export type FollowedManifest = {
  /** Adds a reader; resolves once it was given what is served now, if anything. */
  readonly add: (reader: ManifestReader) => Promise<void>
  readonly stop: () => void
}

/** Checks periodically from now on. */
export function followManifest(store: ObjectStore): FollowedManifest {
  const { add, look } = createManifestFollower(store)
  const timer = setInterval(() => void look(), LOOK_MS)
  return { add, stop: () => clearInterval(timer) }
}

/** Without the timer; `look` never rejects. */
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
  /** One check at a time: a slow one could replace a newer version with an older one. */
  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = null
    })
    return looking
  }
  const add = async (reader: ManifestReader): Promise<void> => {
    await looking // started before this reader was added
    readers.push({ reader, seen: '' })
    await look()
  }
  return { add, look }
}
