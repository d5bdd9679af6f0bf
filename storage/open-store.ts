import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf } from './error-code.ts'
import { createFileStore, removeUnfinished } from './file-store.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Opens the store that a URL names, for reading and writing. Makes no folder: the first write does. Throws a sentence
 * with the legal forms.
 */
export async function openStore(url: string): Promise<ObjectStore> {
  return createFileStore(folderOf(url))
}

/**
 * Throws unless the public and the private store lie apart: neither is the other, nor lies below it. Else stops and
 * leverage, which only the snapshot has, would lie where a web server of the public store serves them.
 */
export async function assertApart(publicUrl: string, privateUrl: string): Promise<void> {
  const [open, hidden] = [await placeOf(publicUrl), await placeOf(privateUrl)]
  if (!open.startsWith(hidden) && !hidden.startsWith(open)) return
  throw new Error(
    `the private store ${privateUrl} and the public store ${publicUrl} overlap, and what is private would be served: ` +
      `name a private store outside of the public one and not around it, such as ${privateTwin(publicUrl)}`,
  )
}

/** Removes what crashed processes left half-written in the store. */
export const cleanStore = (url: string): Promise<void> => removeUnfinished(folderOf(url), isAlive)

/** The private twin of a store, where none is named: a sibling folder, so that no web server of the public one meets it. */
export const privateTwin = (url: string): string => `${url.replace(/\/+$/, '')}.private`

/** Where a store lies, with a slash at its end: equal for equal places, and a beginning of every place below. */
const placeOf = async (url: string): Promise<string> =>
  withSlash(url.startsWith('s3://') ? url : await realPath(folderOf(url)))

const withSlash = (place: string): string => `${place.replace(/\/+$/, '')}/`

/** The path without links, as far as it can be followed; what cannot is told by the first write. */
const realPath = (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await realPath(dirname(path)), basename(path)),
  )

function folderOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed?.protocol === 'file:' && parsed.host === '') return fileURLToPath(parsed)
  throw new Error(`not a store: ${JSON.stringify(url)}; expected file:///absolute/folder`)
}

/** Whether a process of this host lives: one that we may not signal does. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
