// A store in a folder at its limits: a full disk, a folder that cannot be written to, and an object of more than 2 GiB.
import { spawnSync } from 'node:child_process'
import { cp, open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { sha256 } from '#storage/digest.ts'
import { createFileStore } from '#storage/file-store.ts'
import { sha256InTurns, TURN_BYTES } from '#storage/measure.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_BOOK, TINY_LAST_DAY, TINY_VERSION } from '../support/books/publish-book.ts'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import type { Exit } from '../support/processes.ts'
import { buildArgs, contentOf, copyStores, faultsOf, pointerOf, storeArgs } from '../support/stores/stores.ts'
import { lastingFolder, temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

/** The largest file that may be written, in blocks of 1024 bytes, and what it is too small for. */
const LIMITS = [
  [1, 'the snapshot', async () => TINY_BOOK, /snapshot\.\w+: EFBIG/],
  [90, 'what describes the version', () => bookWith(['oak', 'pine'], 10), /datapackage\.json: EFBIG/],
] as const

/** The tiny book with more strategies, of which only returns are reported. */
async function bookWith(ids: readonly string[], days: number): Promise<string> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  const last = Date.parse(TINY_LAST_DAY) / DAY_MS
  const rows = Array.from(
    { length: days },
    (_, i) => `${toIsoDate(last - days + 1 + i)},${i % 2 === 0 ? '' : '-'}0.00${(i % 89) + 10}\n`,
  )
  const costs = 'commission_bps_per_side: 0, slippage_ticks: 0, engine: made by hand'
  let catalogue = await readFile(join(book, 'catalogue.yaml'), 'utf8')
  for (const id of ids) {
    const entry = `strategies:\n  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: returns, ${costs} }\n`
    catalogue = catalogue.replace('strategies:\n', entry)
    await writeFiles(book, { [`returns/${id}.csv`]: `t,ret\n${rows.join('')}` })
  }
  await writeFiles(book, { 'catalogue.yaml': catalogue })
  return book
}

test.each(LIMITS)(
  'a disk with %i kB left for a file, too small for %s, makes a build fail with the reason and publish nothing',
  async (blocks, _what, bookOf, reason) => {
    const [stores, book] = [await copyStores(inject('tinyStore')), await bookOf()]
    const before = await contentOf(stores)
    const exit = await limited(blocks, buildArgs(stores, { book }))
    expect(exit).toMatchObject({ code: 1, signal: null, stdout: '' })
    expect(exit.stderr).toMatch(reason)
    expect(exit.stderr).toMatch(/raise it \(see ulimit -f\), and run the command again\n/)
    expect(exit.stderr).not.toMatch(/^ +at /m)
    expect(await pointerOf(stores)).toBe(TINY_VERSION)
    expect(await faultsOf(stores)).toEqual([])
    expect(await contentOf(stores)).toMatchObject(before)

    if (blocks !== LIMITS[1][0]) return // one that has written the most shows it
    expect(await run(buildArgs(stores, { book }), { now: Date.now })).toMatchObject({ code: 0 })
    expect(await faultsOf(stores)).toEqual([])
  },
)

/** The command under the shell's limit on the size of a file: past it writes fail as they do on a full disk. */
const limited = (blocks: number, args: readonly string[]) =>
  startProcess('bash', [
    '-c',
    `ulimit -f ${blocks} && exec "$@"`,
    ...['bash', process.execPath, LAUNCHER, ...args],
  ]).ended

/** Root writes past the modes of files, so that the folder is mounted read-only, in a namespace of its own. */
const MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'

const inReadOnly = ({ url }: Stores, args: readonly string[]): Promise<Exit> =>
  startProcess('unshare', [
    ...['--map-root-user', '--mount', 'bash', '-c', MOUNTED, fileURLToPath(url)],
    ...[process.execPath, LAUNCHER, ...args],
  ]).ended

const mayMount =
  spawnSync('unshare', ['--map-root-user', '--mount', 'bash', '-c', MOUNTED, tmpdir(), 'true']).status === 0

const WRITING: readonly [string, (stores: Stores) => readonly string[]][] = [
  ['build', buildArgs],
  ['refresh', stores => ['refresh', ...storeArgs(stores)]],
]

test.runIf(mayMount).each(WRITING)(
  'a read-only folder is refused by `highwater %s` with the reason, stays as it was, and its versions are listed all the same (skipped where nobody may mount a folder)',
  async (_name, args) => {
    const stores = await copyStores(inject('tinyStore'))
    const before = await contentOf(stores)
    const exit = await inReadOnly(stores, args(stores))
    expect(exit).toMatchObject({ code: 1, signal: null, stdout: '' })
    expect(exit.stderr).toMatch(/^highwater: cannot create file:\S+: EROFS: .*: .*(writ|mount)/m)
    expect(exit.stderr).not.toMatch(/^ +at /m)
    expect(await contentOf(stores)).toEqual(before)
    const listed = await inReadOnly(stores, ['versions', ...storeArgs(stores)])
    expect(listed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(TINY_VERSION) })
  },
)

/** As the correlations of a book of 10 000 strategies are. */
const LARGE_BYTES = 2 ** 31 + 12_345

test('an object of more than 2 GiB in a folder is read whole, and what is digested in turns has the digest of the whole', async () => {
  const folder = await temporaryFolder()
  const file = await open(join(folder, 'large'), 'w')
  await file.write(Buffer.from('end'), 0, 3, LARGE_BYTES - 3) // what was not written takes no room on the disk
  await file.close()
  const bytes = (await createFileStore(folder).read('large'))!
  expect(bytes.length).toBe(LARGE_BYTES)
  expect(new TextDecoder().decode(bytes.subarray(-4))).toBe('\0end')
  const turns = bytes.subarray(-2 * TURN_BYTES - 5) // no turn is longer, however many there are
  expect(await sha256InTurns(turns)).toBe(sha256(turns))
})
