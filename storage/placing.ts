// How files are placed in a folder: written beside their place, flushed, and moved there whole.
import { link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'
import { TWIN_CODINGS, TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import { parseCompactInstant } from '#core/contract/pins.ts'
import { codeOf, ifThere, isMissing, withRemedy } from './error-code.ts'
import { StoreError } from './object-store.ts'
import { retry } from './retry.ts'

/** Unfinished files live in this folder of the root; its dot keeps it out of every listing. */
export const UNFINISHED = '.unfinished'

/** Reads before it writes, so that repeating what another process did costs no writes; `link` decides. */
export async function placeNew(root: string, key: string, bytes: Uint8Array): Promise<boolean> {
  const path = join(root, key)
  const isNew =
    !(await isThere(path)) &&
    (await withUnfinished(root, key, bytes, unfinished => linkNew(unfinished, path)))
  await flushFolder(dirname(path)) // in any case: the process that linked an object may have been killed before this
  return isNew
}

async function linkNew(unfinished: string, path: string): Promise<boolean> {
  try {
    await inFolder(path, () => link(unfinished, path))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

export async function placeOver(root: string, key: string, bytes: Uint8Array): Promise<void> {
  const path = join(root, key)
  await withUnfinished(root, key, bytes, async unfinished => {
    await inFolder(path, () => rename(unfinished, path))
    await flushFolder(dirname(path))
  })
}

let counter = 0

/** A path for a file or a folder of this thread's own. */
export const newUnfinished = (root: string): string =>
  join(root, UNFINISHED, [hostname(), process.pid, threadId, counter++].join('~'))

/** Writes the bytes, flushed, to a file of this thread's own, passes its path on, and removes the file. */
async function withUnfinished<T>(
  root: string,
  key: string,
  bytes: Uint8Array,
  place: (unfinished: string) => Promise<T>,
): Promise<T> {
  const path = newUnfinished(root)
  const timeMs = fileTimeMs(key)
  try {
    {
      await using file = await inFolder(path, () => open(path, 'w'))
      await file.writeFile(bytes)
      if (timeMs !== null) await file.utimes(timeMs / 1000, timeMs / 1000)
      await file.sync()
    }
    return await place(path)
  } finally {
    await rm(path, { force: true })
  }
}

const SECOND_MS = 1_000

/**
 * The time that the file of an object gets, epoch milliseconds: the instant of its version, and null for what
 * belongs to none. Web servers make the ETag of time and size; so they say the same on every machine that has a
 * copy. Twins are one and two seconds later: or two codings of one size would share a validator.
 */
export function fileTimeMs(key: string): number | null {
  const [, version = ''] = /^v1\/snapshots\/([^/]+)\//.exec(key) ?? []
  const instant = parseCompactInstant(version)
  if (instant === null) return null
  const coding = TWIN_CODINGS.find(each => key.endsWith(TWIN_ENDINGS[each]))
  return Date.parse(instant) + SECOND_MS * (coding === 'br' ? 2 : coding === 'gzip' ? 1 : 0)
}

/** As nginx makes it of time and size, so that clients may change between both. Strong: the time names version and coding. */
export const fileEtag = (key: string, bytes: number): string =>
  `"${((fileTimeMs(key) ?? 0) / SECOND_MS).toString(16)}-${bytes.toString(16)}"`

/** The mark of a batch below a prefix, beside the keys of objects: see `folder-batch.ts`. */
export const markOf = (prefix: string): string => `${UNFINISHED}/${MARK}${prefix.replaceAll('/', '~')}`

const MARK = '~batch~'

/** Removes what gone processes of this host left, and marks of gone folders. Only another host knows which of its own live. */
export async function removeUnfinished(root: string, isAlive: (pid: number) => boolean): Promise<void> {
  for (const name of await ifThere(readdir(join(root, UNFINISHED)), [])) {
    const [host, pid] = name.split('~')
    const isGone = name.startsWith(MARK)
      ? !(await isThere(join(root, ...name.slice(MARK.length).split('~'))))
      : host === hostname() && !isAlive(Number(pid))
    if (isGone) await rm(join(root, UNFINISHED, name), { recursive: true, force: true })
  }
}

/** A folder is made so often for a file, less one: another process that removes its last file takes it away again. */
const MOST_TRIES = 6

/** Puts a file at a path, and creates its folder if it is missing: for most files of a version it exists. */
const inFolder = <T>(path: string, put: () => Promise<T>): Promise<T> =>
  retry(put, MOST_TRIES, () => makeFolder(dirname(path)), isMissing)

/** Makes a folder and those above it, and flushes each new entry: otherwise a crash could lose the branch. */
export async function makeFolder(path: string): Promise<void> {
  const highest = await mkdir(path, { recursive: true })
  if (highest === undefined) return
  for (let made = path; made.length >= highest.length; made = dirname(made)) await flushFolder(dirname(made))
}

/** For each folder the flush that is under way, and the one after it. */
const flushes = new Map<string, { readonly running: Promise<void>; next: Promise<void> | null }>()

/** Flushes a folder. Calls during a flush, which may miss their entries, share the next: a few for all files of a strategy. */
export function flushFolder(path: string): Promise<void> {
  const flush = flushes.get(path)
  if (flush === undefined) return startFlush(path)
  flush.next ??= flush.running.catch(() => {}).then(() => startFlush(path))
  return flush.next
}

function startFlush(path: string): Promise<void> {
  const running = flushNow(path)
  const flush = { running, next: null }
  flushes.set(path, flush)
  const end = (): void => {
    if (flush.next === null) flushes.delete(path) // otherwise the next one takes its place
  }
  running.then(end, end)
  return running
}

/** A folder that is gone was removed with the last file in it, by whomever: nothing is left to flush. */
async function flushNow(path: string): Promise<void> {
  await using folder = await ifThere(open(path, 'r'), null)
  await folder?.sync()
}

export const pathIn = (url: string, key: string): string => join(fileURLToPath(url), ...key.split('/'))

/** Runs an action on a key of a folder; what it throws becomes a StoreError with the remedy. */
export async function guarded<T>(url: string, action: string, key: string, run: () => Promise<T>) {
  try {
    return await run()
  } catch (error) {
    throw new StoreError(action, url, key, withRemedy(error, url))
  }
}

export const isThere = async (path: string): Promise<boolean> => (await ifThere(lstat(path), null)) !== null
