import { mkdir, open, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './error-code.ts'

/** Times that a folder is made for a file: another process that removes its last file takes it away again. */
const MOST_TRIES = 5

/** Puts something at a path, and makes its folder where there is none: of the files of a version the fewest are the first. */
export async function inFolder<T>(path: string, put: () => Promise<T>, triesLeft = MOST_TRIES): Promise<T> {
  try {
    return await put()
  } catch (error) {
    if (!isMissing(error) || triesLeft <= 0) throw error
  }
  await makeFolder(dirname(path))
  return inFolder(path, put, triesLeft - 1)
}

/** Makes a folder and those above it, and flushes the entry of each new one: else a crash could lose the whole branch. */
export async function makeFolder(path: string): Promise<void> {
  const highest = await mkdir(path, { recursive: true })
  if (highest === undefined) return
  for (let made = path; made.length >= highest.length; made = dirname(made)) await flushFolder(dirname(made))
}

/** A folder that is gone was removed with the last file in it, by whomever: nothing is left to flush. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (folder === null) return
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes a file, and the folders below the root that are empty without it. */
export async function removeWithFolders(root: string, path: string): Promise<void> {
  await rm(path, { force: true })
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
    if (!(await removeEmpty(folder))) return
  }
}

/** It holds something, is a mount, or may not be removed: an empty folder is no reason to fail. */
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

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'
