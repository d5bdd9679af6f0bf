import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createFileStore, removeUnfinished } from './file-store.ts'
import type { ObjectStore } from './object-store.ts'

/** Opens the store that a URL names, for reading and writing. Throws a sentence with the legal forms. */
export async function openStore(url: string): Promise<ObjectStore> {
  const root = folderOf(url)
  await mkdir(root, { recursive: true })
  return createFileStore(root)
}

/** Removes what crashed processes left half-written in the store. */
export const cleanStore = (url: string): Promise<void> => removeUnfinished(folderOf(url), isAlive)

/** The private twin of a store, where none is named: a sibling folder, so that no web server of the public one meets it. */
export const privateTwin = (url: string): string => `${url.replace(/\/+$/, '')}.private`

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
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
