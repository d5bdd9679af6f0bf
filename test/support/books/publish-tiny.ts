import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { publishBook, TINY_BOOK } from './publish-book.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A store with one published version of the tiny book, and its private twin. Tests read it and never write. */
    tinyStore: { readonly url: string; readonly privateUrl: string }
  }
}

/** Publishes the tiny book once for all tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-tiny-'))
  const url = pathToFileURL(join(folder, 'store')).href
  const privateUrl = `${url}.private`
  await publishBook(TINY_BOOK, { url, privateUrl })
  project.provide('tinyStore', { url, privateUrl })
  return () => rm(folder, { recursive: true, force: true })
}
