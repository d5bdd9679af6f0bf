import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { TINY_BOOK, TINY_LAST_DAY, TINY_VERSION } from '../support/books/publish-book.ts'
import { LAUNCHER, startProcess } from '../support/history/highwater-process.ts'
import { buildArgs, contentOf, copyStores, faultsOf, pointerOf } from '../support/stores/stores.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

/** The largest file that may be written, in blocks of 1024 bytes, and what it is too small for. */
const LIMITS = [
  [1, 'the snapshot', async () => TINY_BOOK, /snapshot\.\w+: EFBIG/],
  [100, 'an artifact', longBook, /v1\/snapshots\/20250225T001500Z\/[\w/]+\.(?:daily\.)?json: EFBIG/],
  [70, 'what describes the version', async () => TINY_BOOK, /datapackage\.json: EFBIG/],
] as const

/** The tiny book with a history of 3 000 days, whose answers are larger than everything else. */
async function longBook(): Promise<string> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  const last = Date.parse(TINY_LAST_DAY) / DAY_MS
  const rows = Array.from({ length: 3000 }, (_, i) => `${toIsoDate(last - 2999 + i)},0.00${(i % 89) + 10}\n`)
  await writeFiles(book, { 'returns/oak.csv': `t,ret\n${rows.join('')}` })
  const costs = 'commission_bps_per_side: 0, slippage_ticks: 0, engine: made by hand'
  const entry = `strategies:\n  - { id: oak, name: Oak, base_risk_pct: 0.02, source: returns, ${costs} }\n`
  const catalogue = await readFile(join(book, 'catalogue.yaml'), 'utf8')
  await writeFiles(book, { 'catalogue.yaml': catalogue.replace('strategies:\n', entry) })
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

    const again = await limited(null, buildArgs(stores, { book }))
    expect(again).toMatchObject({ code: 0 })
    expect(await faultsOf(stores)).toEqual([])
  },
)

/** The command under the shell's limit on the size of a file: past it writes fail as they do on a full disk. */
const limited = (blocks: number | null, args: readonly string[]) =>
  startProcess('bash', [
    '-c',
    `ulimit -f ${blocks ?? 'unlimited'} && exec "$@"`,
    ...['bash', process.execPath, LAUNCHER, ...args],
  ]).ended
