import { lstat, open, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codeOf, ifThere, isMissing } from './error-code.ts'
import { assertKey, type ObjectStore } from './object-store.ts'
import { guarded, isThere, pathIn, placeNew, placeOver, UNFINISHED } from './placing.ts'

/**
 * An object store in a folder. An object is written to an unfinished file, flushed to the disk, and then
 * linked (`create`) or renamed (`replace`) into place, and its folder flushed: so after a crash or on a full
 * disk there is the whole object or none, and `link` decides every race.
 */
export function createFileStore(folder: string): ObjectStore {
  const root = resolve(folder)
  const url = pathToFileURL(root).href.replace(/\/$/, '')
  const at = async <T>(action: string, key: string, run: (path: string) => Promise<T>): Promise<T> => {
    assertKey(key)
    return guarded(url, action, key, () => run(pathIn(url, key)))
  }
  return {
    url,
    read: key => at('read', key, path => ifThere(readWhole(path), null)),
    has: key => at('look for', key, async path => (await ifThere(lstat(path), null))?.isFile() ?? false),
    create: (key, bytes) => at('create', key, () => placeNew(root, key, bytes)),
    replace: (key, bytes) => at('replace', key, () => placeOver(root, key, bytes)),
    list: prefix => guarded(url, 'list', prefix, () => listFiles(root, prefix)),
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
        .replaceAll(sep, '/'),
    )
    .filter(key => !key.startsWith(UNFINISHED))
    .sort()
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
