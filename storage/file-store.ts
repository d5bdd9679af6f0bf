import { link, mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { threadId } from 'node:worker_threads'
import { assertKey, type ObjectStore, StoreError } from './object-store.ts'

/** Unfinished files live in this folder of the root; its dot keeps it out of every listing. */
const UNFINISHED = '.unfinished'

/**
 * An object store in a folder. An object is written to an unfinished file, flushed to the disk, and then linked
 * (`create`) or renamed (`replace`) into place, and its folder flushed: so after a crash or on a full disk there is
 * the whole object or none, and `link` decides every race.
 */
export function createFileStore(folder: string): ObjectStore {
  const root = resolve(folder)
  const url = pathToFileURL(root).href.replace(/\/$/, '')
  const pathOf = (key: string): string => {
    assertKey(key)
    return join(root, ...key.split('/'))
  }
  const guard = async <T>(action: string, key: string, run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (cause) {
      throw new StoreError(action, url, key, cause)
    }
  }
  return {
    url,
    read: key => {
      const path = pathOf(key)
      return guard('read', key, () => readOrNull(path))
    },
    create: (key, bytes) => {
      const path = pathOf(key)
      return guard('create', key, () => placeNew(root, path, bytes))
    },
    replace: (key, bytes) => {
      const path = pathOf(key)
      return guard('replace', key, () => placeOver(root, path, bytes))
    },
    list: prefix => guard('list', prefix, () => listFiles(root, prefix)),
    remove: key => {
      const path = pathOf(key)
      return guard('remove', key, () => rm(path, { force: true }))
    },
  }
}

async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function placeNew(root: string, path: string, bytes: Uint8Array): Promise<boolean> {
  return withUnfinished(root, bytes, async unfinished => {
    await makeFolder(dirname(path))
    try {
      await link(unfinished, path)
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
    await flushFolder(dirname(path))
    return true
  })
}

async function placeOver(root: string, path: string, bytes: Uint8Array): Promise<void> {
  await withUnfinished(root, bytes, async unfinished => {
    await makeFolder(dirname(path))
    await rename(unfinished, path)
    await flushFolder(dirname(path))
  })
}

let counter = 0

/** Writes the bytes, flushed, to a file of this thread's own, hands over its path, and leaves nothing behind. */
async function withUnfinished<T>(
  root: string,
  bytes: Uint8Array,
  place: (unfinished: string) => Promise<T>,
): Promise<T> {
  const folder = join(root, UNFINISHED)
  await mkdir(folder, { recursive: true })
  const path = join(folder, [hostname(), process.pid, threadId, counter++].join('~'))
  try {
    const file = await open(path, 'w')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    return await place(path)
  } finally {
    await unlinkIfThere(path)
  }
}

/**
 * Removes what processes of this host that are gone left unfinished. Another host may share the folder, and only it
 * knows which of its processes live.
 */
export async function removeUnfinished(root: string, isAlive: (pid: number) => boolean): Promise<void> {
  for (const name of await namesIn(join(root, UNFINISHED))) {
    const [host, pid] = name.split('~')
    if (host === hostname() && !isAlive(Number(pid))) await unlinkIfThere(join(root, UNFINISHED, name))
  }
}

async function listFiles(root: string, prefix: string): Promise<readonly string[]> {
  const folder = join(root, ...prefix.split('/'))
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(error => {
    if (isMissing(error)) return []
    throw error
  })
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

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch(error => {
    if (isMissing(error)) return []
    throw error
  })

/** Makes a folder and those above it, and flushes the entry of each new one: else a crash could lose the whole branch. */
async function makeFolder(path: string): Promise<void> {
  const highest = await mkdir(path, { recursive: true })
  if (highest === undefined) return
  for (let made = path; made.length >= highest.length; made = dirname(made)) await flushFolder(dirname(made))
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
