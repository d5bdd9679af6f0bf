import { link, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { threadId } from 'node:worker_threads'
import { codeOf } from './error-code.ts'
import { fileTimeMs } from './file-time.ts'
import { assertKey, type ObjectStore, StoreError } from './object-store.ts'

/** Unfinished files live in this folder of the root; its dot keeps it out of every listing. */
const UNFINISHED = '.unfinished'

/**
 * An object store in a folder. An object is written to an unfinished file, flushed to the disk, and then
 * linked (`create`) or renamed (`replace`) into place, and its folder flushed: so after a crash or on a full
 * disk there is the whole object or none, and `link` decides every race.
 */
export function createFileStore(folder: string): ObjectStore {
  const root = resolve(folder)
  const url = pathToFileURL(root).href.replace(/\/$/, '')
  const guard = createGuard(url)
  const at = async <T>(action: string, key: string, run: (path: string) => Promise<T>): Promise<T> => {
    assertKey(key)
    return guard(action, key, () => run(join(root, ...key.split('/'))))
  }
  return {
    url,
    read: key => at('read', key, path => ifThere(readWhole(path), null)),
    has: key => at('look for', key, async path => (await ifThere(lstat(path), null))?.isFile() ?? false),
    create: (key, bytes) =>
      at('create', key, path => placeNew({ root, path, bytes, timeMs: fileTimeMs(key) })),
    replace: (key, bytes) =>
      at('replace', key, path => placeOver({ root, path, bytes, timeMs: fileTimeMs(key) })),
    list: prefix => guard('list', prefix, () => listFiles(root, prefix)),
    remove: key => at('remove', key, path => removeWithFolders(root, path)),
  }
}

/** Node reads at most 2 GiB at once; the correlations of 10 000 strategies are 2.4 GB. */
const READ_BYTES = 2 ** 30

async function readWhole(path: string): Promise<Uint8Array> {
  await using file = await open(path)
  const { size } = await file.stat()
  if (size <= READ_BYTES) return await file.readFile() // before it is closed
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(READ_BYTES, size - at), at)
    if (bytesRead === 0) throw new Error('it became shorter while it was read')
    at += bytesRead
  }
  return bytes
}

/** Runs an action on a key; what it throws becomes a StoreError with the remedy. */
const createGuard =
  (url: string) =>
  async <T>(action: string, key: string, run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      throw new StoreError(action, url, key, withRemedy(error, url))
    }
  }

/** What is written where. Null leaves the time as it comes. */
type Placing = {
  readonly root: string
  readonly path: string
  readonly bytes: Uint8Array
  readonly timeMs: number | null
}

/** Reads before it writes, so that repeating what another process did costs no writes; `link` decides. */
async function placeNew(placing: Placing): Promise<boolean> {
  const { path } = placing
  const isNew =
    !(await isThere(path)) && (await withUnfinished(placing, unfinished => linkNew(unfinished, path)))
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

async function placeOver(placing: Placing): Promise<void> {
  const { path } = placing
  await withUnfinished(placing, async unfinished => {
    await inFolder(path, () => rename(unfinished, path))
    await flushFolder(dirname(path))
  })
}

let counter = 0

/** Writes the bytes, flushed, to a file of this thread's own, passes its path on, and removes the file. */
async function withUnfinished<T>(
  { root, bytes, timeMs }: Placing,
  place: (unfinished: string) => Promise<T>,
): Promise<T> {
  const path = join(root, UNFINISHED, [hostname(), process.pid, threadId, counter++].join('~'))
  try {
    const file = await inFolder(path, () => open(path, 'w'))
    try {
      await file.writeFile(bytes)
      if (timeMs !== null) await file.utimes(timeMs / 1000, timeMs / 1000)
      await file.sync()
    } finally {
      await file.close()
    }
    return await place(path)
  } finally {
    await rm(path, { force: true })
  }
}

/**
 * Removes what processes of this host that are gone left unfinished. Another host may share the folder, and
 * only it knows which of its processes live.
 */
export async function removeUnfinished(root: string, isAlive: (pid: number) => boolean): Promise<void> {
  for (const name of await ifThere(readdir(join(root, UNFINISHED)), [])) {
    const [host, pid] = name.split('~')
    if (host === hostname() && !isAlive(Number(pid))) await rm(join(root, UNFINISHED, name), { force: true })
  }
}

async function listFiles(root: string, prefix: string): Promise<readonly string[]> {
  const folder = join(root, ...prefix.split('/'))
  const entries = await ifThere(readdir(folder, { recursive: true, withFileTypes: true }), null)
  // A folder below may have been removed meanwhile, which says nothing about the others.
  if (entries === null) return (await isThere(folder)) ? listFiles(root, prefix) : []
  return entries
    .filter(entry => entry.isFile())
    .map(entry =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .split(sep)
        .join('/'),
    )
    .filter(key => !key.startsWith(UNFINISHED))
    .sort()
}

const isThere = async (path: string): Promise<boolean> => (await ifThere(lstat(path), null)) !== null

/** The result, or `otherwise` if the file or the folder is missing. */
export const ifThere = <Found, Otherwise>(
  found: Promise<Found>,
  otherwise: Otherwise,
): Promise<Found | Otherwise> =>
  found.catch((error: unknown) => {
    if (isMissing(error)) return otherwise
    throw error
  })

const FULL = (url: string): string => `free space on the disk of ${url}, and run the command again`
const FORBIDDEN = (url: string): string =>
  `give the user that runs this the right to write in ${url}, and run the command again`

/** What an operator can do about an error of the file system, as the end of a sentence. */
const REMEDIES: Readonly<Record<string, (url: string) => string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: url =>
    `the file is larger than the limit of this process or of the disk of ${url}: raise it (see ulimit -f), and ` +
    'run the command again',
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: url => `the disk of ${url} is read-only: mount it for writing, or use another store`,
  EMFILE: () =>
    'too many files are open: raise the limit of this process (see ulimit -n), or use fewer --threads',
}

/** The error with its remedy, if one is known. */
export function withRemedy(error: unknown, url: string): unknown {
  const remedy = REMEDIES[String(codeOf(error))]
  if (remedy === undefined || !(error instanceof Error)) return error
  return new Error(`${error.message}; ${remedy(url)}`, { cause: error })
}

/** Times that a folder is made for a file: another process that removes its last file takes it away again. */
const MOST_TRIES = 5

/** Puts a file at a path, and creates its folder if it is missing: for most files of a version it exists. */
async function inFolder<T>(path: string, put: () => Promise<T>, triesLeft = MOST_TRIES): Promise<T> {
  try {
    return await put()
  } catch (error) {
    if (!isMissing(error) || triesLeft <= 0) throw error
  }
  await makeFolder(dirname(path))
  return inFolder(path, put, triesLeft - 1)
}

/** Makes a folder and those above it, and flushes each new entry: otherwise a crash could lose the branch. */
async function makeFolder(path: string): Promise<void> {
  const highest = await mkdir(path, { recursive: true })
  if (highest === undefined) return
  for (let made = path; made.length >= highest.length; made = dirname(made)) await flushFolder(dirname(made))
}

/** For each folder the flush that is under way, and the one after it. */
const flushes = new Map<string, { readonly running: Promise<void>; next: Promise<void> | null }>()

/**
 * Flushes a folder. Callers that come while a flush is under way, which may miss their entries, share the one after it: the
 * files of a strategy take a few flushes together.
 */
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
  const folder = await ifThere(open(path, 'r'), null)
  if (folder === null) return
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes a file, and the folders below the root that are empty without it. */
async function removeWithFolders(root: string, path: string): Promise<void> {
  await rm(path, { force: true })
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
    if (!(await removeEmpty(folder))) return
  }
}

/** Not empty, a mount, or not removable: a remaining folder is not an error. */
const STAYS: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST', 'EBUSY', 'EACCES', 'EPERM', 'EROFS'])

/** Whether the folder is gone now, by whomever. */
async function removeEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch (error) {
    if (isMissing(error)) return true
    if (STAYS.has(codeOf(error))) return false
    throw error
  }
}

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'
