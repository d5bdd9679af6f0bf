// The same book, version and code give the same bytes, wherever and however they are built.
import { cp, mkdir, readdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { TINY_BOOK } from '../support/books/publish-book.ts'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import { type BuildArgs, buildArgs, contentOf, copyStores, withStart } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

/** Where, how and from what a build is made. */
type Setting = {
  readonly env?: Readonly<Record<string, string>>
  readonly order?: BuildArgs
  readonly cwd?: string
  /** What the shell does before it becomes the build. */
  readonly before?: string
  /** A program that the build runs in. */
  readonly inside?: readonly string[]
}

/** Another name of the machine needs a namespace of its own, which root or a kernel that lets anybody has. */
const ELSEWHERE = ['unshare', '--map-root-user', '--uts']

const FAR_EAST = { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }
const NEWFOUNDLAND = { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' }

let plain: Record<string, string>

beforeAll(async () => {
  plain = await built({ env: NEWFOUNDLAND })
  const ofData = Object.keys(plain).filter(key => /manifest\.json$|snapshot\.\w+/.test(key))
  expect(ofData.length).toBeGreaterThan(5)
})

test('a build gives the same bytes at half hours and with decimal commas, and with three threads, the earliest midnight of all time zones, Turkish letters, another working folder, files that only their owner may read, and a book whose files are listed and dated otherwise', async () => {
  const order = { threads: 3, book: await rewrittenBook() }
  expect(await built({ env: FAR_EAST, cwd: await lastingFolder(), before: 'umask 077', order })).toEqual(
    plain,
  )
})

test('a build gives the same bytes on a machine of another name', async context => {
  const named = await startProcess('unshare', [...ELSEWHERE.slice(1), 'hostname', 'elsewhere']).ended
  if (named.code !== 0)
    return context.skip(`this machine does not allow another host name: ${named.stderr.trim()}`)
  const env = { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' }
  expect(await built({ env, inside: ELSEWHERE, before: 'hostname elsewhere' })).toEqual(plain)
})

/** The digests of everything that a build published, and of the snapshot, by key inside the stores. */
async function built({
  env = {},
  order = {},
  cwd,
  before = ':',
  inside = [],
}: Setting): Promise<Record<string, string>> {
  const stores = await withStart(copyStores(inject('tinyStore')))
  const command = [process.execPath, LAUNCHER, ...buildArgs(stores, order)]
  const [program = '', ...args] = [...inside, 'bash', '-c', `${before} && exec "$@"`, 'bash', ...command]
  const exit = await startProcess(program, args, { env, ...(cwd === undefined ? {} : { cwd }) }).ended
  expect(exit, exit.stderr).toMatchObject({ code: 0 })
  const content = Object.entries(await contentOf(stores)).map(([key, digest]) => [
    key.replace(`${stores.privateUrl}/`, 'private/').replace(`${stores.url}/`, ''),
    digest,
  ])
  // The log holds the time of publication, and the private record the machine and the duration.
  return Object.fromEntries(
    content.filter(([key]) => !/^v1\/pointer\/|^v1\/current|\/build\.json$/.test(key!)),
  )
}

/** The tiny book in a new folder, written from the last file to the first, each a day older than the one before. */
async function rewrittenBook(): Promise<string> {
  const book = join(await lastingFolder(), 'elsewhere')
  const entries = await readdir(TINY_BOOK, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  for (const [i, file] of files.sort().reverse().entries()) {
    const copy = join(book, file.slice(TINY_BOOK.length))
    await mkdir(dirname(copy), { recursive: true })
    await cp(file, copy)
    await utimes(copy, 1_000_000_000 - i * 86_400, 1_000_000_000 - i * 86_400)
  }
  return book
}
