// A forger's book in a folder, the commands on it, and what a reader of its store then sees.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Runtime } from '#cli/runtime.ts'
import { toCompactInstant, toIsoInstant } from '#core/calendar.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { NOW_MS, run } from '../cli/made-up.ts'

export type Forgery = Awaited<ReturnType<typeof forge>>

/** Writes a book. Its versions are named by the clock unless an option says otherwise. */
export async function forge(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder()
  await writeFiles(join(folder, 'book'), files)
  const store = pathToFileURL(join(folder, 'store')).href
  const command = (name: string, args: readonly string[], world: Partial<Runtime> = {}) =>
    run([name, ...args, '--store', store], { cwd: folder, env: { BUILD_EFFORT: 'quick' }, ...world })
  const read = (path: string, version = toIsoInstant(NOW_MS)): Promise<string> =>
    readFile(join(fileURLToPath(store), 'v1/snapshots', toCompactInstant(version), path), 'utf8')
  return {
    /** Changes files of the book. */
    write: (changes: Readonly<Record<string, string>>) => writeFiles(join(folder, 'book'), changes),
    command,
    build: (...args: readonly string[]) => command('build', ['--book', 'book', ...args]),
    /** What is written on a page of a version, without its marks. */
    page: async (path: string, version?: string) => textOf(await read(path, version)),
    /** The data of an answer of a version. */
    data: async (path: string, version?: string): Promise<unknown> =>
      JSON.parse(await read(path, version)).data,
  }
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<(?:script|style|svg)\b.*?<\/(?:script|style|svg)>/gs, ' ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
