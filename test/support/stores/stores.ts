// Stores of a test: made in a temporary folder, filled by the command, and looked at file by file.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import { manifest, objectsOf } from '#core/contract/manifest.ts'
import { saveEntryTime } from '#static-build/save-private.ts'
import { sha256 } from '#storage/digest.ts'
import { openStore, privateTwin } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { type Stores, TINY_BOOK, TINY_LAST_DAY } from '../books/publish-book.ts'
import { lastingFolder } from '../temporary-folder.ts'
import { bytesOf } from './stored-bytes.ts'

/** Two stores that nothing was published in. */
export async function newStores(): Promise<Stores> {
  const url = pathToFileURL(join(await lastingFolder(), 'store')).href
  return { url, privateUrl: privateTwin(url) }
}

/** Two stores with what others have published in them. */
export async function copyStores(from: Stores): Promise<Stores> {
  const to = await newStores()
  const whole = { recursive: true, preserveTimestamps: true } // the time of a file is that of its version
  await cp(fileURLToPath(from.url), fileURLToPath(to.url), whole)
  await cp(fileURLToPath(from.privateUrl), fileURLToPath(to.privateUrl), whole)
  return to
}

/** Builds of any moment of this run give the same bytes if their stores say that one began now. */
const START = toIsoInstant(Date.now())

/** Stores in which a build of `NEXT_VERSION` has begun to write. */
export async function withStart<Opened extends Stores>(opening: Promise<Opened>): Promise<Opened> {
  const stores = await opening
  await saveEntryTime(await openStore(stores.privateUrl, stores.s3), NEXT_VERSION, START)
  return stores
}

/** A version of the tiny book after the one that every test run publishes. */
export const NEXT_VERSION = '2025-02-25T00:15:00Z'

export type BuildArgs = {
  readonly book?: string
  readonly version?: string
  /** The last day of the window; null for a build of now. */
  readonly asOf?: string | null
  /** One by default: for a book this small a second thread costs more than it saves. */
  readonly threads?: number
}

/** The options of a command that works on these stores. */
export const storeArgs = ({ url, privateUrl }: Stores): string[] => [
  ...['--store', url, '--private-store', privateUrl],
]

/** The arguments that build the tiny book, or another, into the stores. */
export function buildArgs(stores: Stores, order: BuildArgs = {}): string[] {
  const { book = TINY_BOOK, version = NEXT_VERSION, asOf = TINY_LAST_DAY, threads = 1 } = order
  return [
    ...['build', '--book', book, ...storeArgs(stores), '--version', version],
    ...['--threads', String(threads), '--effort', 'quick'], // what is small is not what these builds show
    ...(asOf === null ? [] : ['--as-of', asOf]),
  ]
}

/** The version that the pointer names, or null. */
export const pointerOf = async ({ url, s3 }: Stores): Promise<string | null> =>
  (await readHead(await openStore(url, s3)))?.entry.version ?? null

/** Resolves when a build has taken the lock of the store, which it does before it computes anything. */
export const buildBegan = ({ url, s3 }: Stores): Promise<void> =>
  expect.poll(async () => (await (await openStore(url, s3)).list('lock/build/')).length).toBeGreaterThan(0)

/** The digest of every object by key, locks aside: equal before and after where nothing was published. */
export async function contentOf({ url, privateUrl, s3 }: Stores): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const store of [await openStore(url, s3), await openStore(privateUrl, s3)]) {
    const keys = (await store.list('')).filter(key => !key.startsWith('lock/'))
    for (const key of keys) digests[`${store.url}/${key}`] = sha256(await bytesOf(store, key))
  }
  return digests
}

/**
 * The digest of every object of the versions in the public store, by key inside it: the same for the same book, version
 * and code, wherever and whenever it was built.
 */
export async function versionContentOf({ url, s3 }: Stores): Promise<Record<string, string>> {
  const store = await openStore(url, s3)
  const digests: Record<string, string> = {}
  for (const key of await store.list('v1/snapshots/')) digests[key] = sha256(await bytesOf(store, key))
  return digests
}

/**
 * Everything that is wrong with a pair of stores: a manifest that names an object which is missing or other bytes
 * than it says, or a pointer to a manifest that is not there. Empty where every version that has a manifest is whole.
 * A caller that has just read their content gives it as `found`, so that it is not read again.
 */
export async function faultsOf(stores: Stores, found?: Readonly<Record<string, string>>): Promise<string[]> {
  const { url, privateUrl, s3 } = stores
  const content = found ?? (await contentOf(stores))
  const store = await openStore(url, s3)
  const keys = (await store.list('v1/')).filter(key => key.endsWith('/manifest.json'))
  const faults = keys.map(async key => {
    const bytes = await bytesOf(store, key)
    const { version, artifacts, snapshot } = manifest.parse(JSON.parse(new TextDecoder().decode(bytes)))
    const expected = [
      ...artifacts.flatMap(objectsOf).map(each => [`${url}/${each.key}`, each.sha256] as const),
      ...Object.entries(snapshot).map(
        ([name, digest]) => [`${privateUrl}/${privateKey(version, name)}`, digest] as const,
      ),
    ]
    const wrong = expected.filter(([place, digest]) => content[place] !== digest)
    return wrong.map(([place]) => `${version}: ${place} is ${place in content ? 'altered' : 'missing'}`)
  })
  const current = (await readHead(store))?.entry
  const isDangling =
    current !== undefined && !keys.some(key => content[`${url}/${key}`] === current.manifest_sha256)
  const dangling = isDangling ? [`the pointer names ${current.version}, which is not there`] : []
  return [...(await Promise.all(faults)).flat(), ...dangling]
}
