// Folders of files that are placed without a flush for each file, and flushed together at the end: a flush costs more than all
// else that is done to write a file of a version.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { codeOf, ifThere, withRemedy } from './error-code.ts'
import { assertKey, isFolder, type ObjectStore, StoreError } from './object-store.ts'
import { fileTimeMs, guarded, makeFolder, markOf, newUnfinished, pathIn, placeOver } from './placing.ts'

/** Linux draws it when the machine starts. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'

/**
 * Begins to write folders below `prefix` that nobody reads before all of them are written, and returns what ends that: then
 * they are durable. A mark with the id of this boot lasts until all is flushed. If it is there with another id, the machine lost
 * power in between: the files may be torn, and are removed. Null for a bucket, and where boots have no id.
 */
export async function beginBatch(store: ObjectStore, prefix: string): Promise<(() => Promise<void>) | null> {
  if (!isFolder(store)) return null
  assertKey(prefix)
  const end = await guarded(store.url, 'write below', prefix, () => markBatch(store.url, prefix))
  return end && (() => guarded(store.url, 'flush', prefix, end))
}

async function markBatch(url: string, prefix: string) {
  const boot = await ifThere(readFile(BOOT_ID), null)
  if (boot === null) return null
  const root = fileURLToPath(url)
  const mark = join(root, markOf(prefix))
  const below = pathIn(url, prefix)
  const before = await ifThere(readFile(mark), null)
  if (before !== null && !before.equals(boot)) await rm(below, { recursive: true, force: true })
  await placeOver(root, markOf(prefix), boot)
  await makeFolder(below)
  return async (): Promise<void> => {
    await flushBelow(below)
    await rm(mark, { force: true })
  }
}

/**
 * Writes a folder of the store at `url` within a batch, from any thread: beside its place, and moves it there, so that a process
 * that is killed leaves none of it. False if the folder exists: then nothing was written. It blocks, which costs less than the
 * threads of Node, because it waits for no disk.
 */
export function placeFolder(
  url: string,
  folder: string,
  objects: readonly { readonly key: string; readonly bytes: Uint8Array }[],
): boolean {
  for (const { key } of objects) assertKey(key)
  const root = fileURLToPath(url)
  const path = pathIn(url, folder)
  if (existsSync(path)) return false
  const unfinished = newUnfinished(root)
  let writing = folder
  try {
    mkdirSync(unfinished, { recursive: true })
    for (const { key, bytes } of objects) {
      writing = key
      const place = join(unfinished, key.slice(folder.length + 1))
      const timeMs = fileTimeMs(key)
      writeFileSync(place, bytes, { flag: 'wx' })
      if (timeMs !== null) utimesSync(place, timeMs / 1000, timeMs / 1000)
    }
    writing = folder
    mkdirSync(dirname(path), { recursive: true })
    renameSync(unfinished, path)
    return true
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (EXISTS.has(codeOf(error))) return false
    throw new StoreError('create', url, writing, withRemedy(error, url))
  }
}

/** Another process placed it meanwhile. */
const EXISTS: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST'])

/** Flushes the file system, which no call of Node does, or each file if there is no program that can, or it fails. */
async function flushBelow(folder: string): Promise<void> {
  try {
    await promisify(execFile)('sync', ['-f', folder])
  } catch {
    for (const path of ['', ...(await readdir(folder, { recursive: true }))]) {
      await using file = await open(join(folder, path))
      await file.sync()
    }
  }
}
