// Whatever is wrong with a book: exit code 1, every problem on stderr with its place, nothing published, and the
// version before still served by a process that runs all the while.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_BOOK, TINY_LAST_DAY, TINY_VERSION } from '../support/books/publish-book.ts'
import { type ServingProcess, servedVersion, startServing } from '../support/history/history-process.ts'
import { buildArgs, contentOf, copyStores, NEXT_VERSION, pointerOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'
import { BAD_BOOKS, BARS, damagedBook, edit, editRow, LEDGER, MODULE } from './bad-books.ts'

let stores: Stores
let service: ServingProcess
let published: Record<string, string>

beforeAll(async () => {
  stores = await copyStores(inject('tinyStore'))
  published = await contentOf(stores)
  service = await startServing(stores)
})

test.each(BAD_BOOKS)(
  'a build of a book with %s publishes nothing and says where and why',
  async (_what, damage, expected) => {
    const stderr = await expectRefusal(await damagedBook(damage))
    for (const part of expected) expect(stderr).toContain(part)
  },
)

test('a build of a book with stale bars publishes nothing and says how to go on', async () => {
  const stderr = await expectRefusal(TINY_BOOK, null)
  expect(stderr).toContain(`${BARS}: the newest bar ends at 2025-02-24T00:00:00Z, more than 36 hours ago`)
  expect(stderr).toContain('--allow-stale')
})

test('a build of a book with a problem in every file names them all at once', async () => {
  const book = await damagedBook(async dir => {
    await editRow(BARS, 10, row => row.replace(/,[^,]*,([^,]*)$/, ',NaN,$1'))(dir)
    await editRow(BARS, 20, row => row.replace(/,[^,]*,([^,]*)$/, ',-1,$1'))(dir)
    await editRow('returns/elm.csv', 7, row => row.replace(/,.*/, ',two'))(dir)
    await editRow(LEDGER, 3, row => row.replace('short', 'buy'))(dir)
    await edit('catalogue.yaml', text => text.replace('name: Yew', 'nome: Yew'))(dir)
  })
  const stderr = await expectRefusal(book)
  const places = [`${BARS}:10:`, `${BARS}:20:`, 'returns/elm.csv:7:', `${LEDGER}:3:`, 'catalogue.yaml:12:']
  for (const place of places) expect(stderr).toContain(`\n  ${place}`)
})

test('a build of a book with two modules that throw names both', async () => {
  const book = await damagedBook(async dir => {
    const throwing = (text: string) => text.replace('onBar(', 'onBar(): never { throw null },\n  was(')
    await edit(MODULE, throwing)(dir)
    await edit('catalogue.yaml', text => text.replace(/( {2}- \{ id: ash.*\n)/, twice))(dir)
    const ash = await readFile(join(dir, MODULE), 'utf8')
    await writeFile(join(dir, 'strategies/oak.ts'), ash.replace("'ash'", "'oak'"))
  })
  const stderr = await expectRefusal(book)
  expect(stderr).toContain(
    `${MODULE}: at the bar of 2024-01-01T00:00:00Z: it threw a value that is not an Error: null`,
  )
  expect(stderr).toContain(
    'strategies/oak.ts: at the bar of 2024-01-01T00:00:00Z: it threw a value that is not an Error: null',
  )
})

test('a build of an empty folder, or of none, publishes nothing', async () => {
  const empty = await lastingFolder()
  expect(await expectRefusal(empty)).toContain('catalogue.yaml')
  expect(await expectRefusal(join(empty, 'nowhere'))).toContain('nowhere')
})

test('a build whose day is not over, or whose data end long before it, publishes nothing', async () => {
  const future = await build(buildArgs(stores, { asOf: '2999-12-31' }))
  expect(future).toMatchObject({ code: 1, out: '' })
  expect(future.err).toContain('--as-of: expected a day that is over, got 2999-12-31 while it is ')
  const late = await build(buildArgs(stores, { asOf: '2025-06-30' }))
  expect(late).toMatchObject({ code: 1, out: '' })
  expect(late.err).toContain(
    `${BARS}: the newest bar ends at 2025-02-24T00:00:00Z, more than 36 hours before the end of 2025-06-30`,
  )
  await expectUntouched()
})

test('a build reports stale bars, a bad funding rate and a fill outside its bar together', async () => {
  const book = await damagedBook(async dir => {
    await editRow('funding/BTCUSDT-PERP.csv', 2, row => row.replace(/,.*/, ',5'))(dir)
    await edit(LEDGER, text => text.replace('40267.5', '50267.5'))(dir)
  })
  const stderr = await expectRefusal(book, null)
  for (const place of [
    `${BARS}: the newest bar`,
    'funding/BTCUSDT-PERP.csv:2: rate',
    `${LEDGER}:2: the trade`,
  ])
    expect(stderr).toContain(`\n  ${place}`)
})

test('a build of the past does not take the served window back, unless it names its version and may alter history', async () => {
  const own = await copyStores(inject('tinyStore'))
  const unnamed = buildArgs(own, { asOf: '2024-12-31' }).filter((_, i, args) => {
    const version = args.indexOf('--version')
    return i !== version && i !== version + 1
  })
  const exit = await build(unnamed)
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toContain(
    `the window of this build ends on 2024-12-31, and that of the served version ${TINY_VERSION} on ` +
      `${TINY_LAST_DAY}: bring newer data, or set --version to publish an earlier window`,
  )
  expect(await pointerOf(own)).toBe(TINY_VERSION)
  const named = await build(buildArgs(own, { asOf: '2024-12-31' }))
  expect(named).toMatchObject({ code: 1, out: '' })
  expect(named.err).toMatch(/would alter history .*\n.*return of 2025-01-01: .* -> none/)
  expect(await pointerOf(own)).toBe(TINY_VERSION)
  const allowed = [...buildArgs(own, { asOf: '2024-12-31' }), '--allow-restatement']
  expect(await build(allowed)).toMatchObject({ code: 0 })
  expect(await pointerOf(own)).toBe(NEXT_VERSION)
})

test('a build under an older version than the served one publishes nothing', async () => {
  const older = '2025-02-23T00:00:00Z'
  const exit = await build(buildArgs(stores, { version: older }))
  expect(exit.code).toBe(1)
  expect(exit.err).toContain(`the version ${older} is older than the served version ${TINY_VERSION}`)
  await expectUntouched()
})

test('a build of other data under the name of a published version publishes nothing', async () => {
  const book = await damagedBook(editRow('returns/elm.csv', 7, row => row.replace(/,.*/, ',0.5')))
  const exit = await build(buildArgs(stores, { book, version: TINY_VERSION }))
  expect(exit.code).toBe(1)
  expect(exit.err).toContain('exists with other bytes, and what is published never changes')
  await expectUntouched()
})

const build = (args: readonly string[]) => run(args, { now: () => Date.now() })

/** Builds a book that must be refused, and returns what was said about it. */
async function expectRefusal(book: string, asOf?: null): Promise<string> {
  const exit = await build(buildArgs(stores, { book, ...(asOf === null ? { asOf } : {}) }))
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).not.toMatch(/^ +at /m) // a sentence for people, not a stack
  await expectUntouched()
  return exit.err
}

async function expectUntouched(): Promise<void> {
  expect(await contentOf(stores)).toEqual(published)
  expect(await pointerOf(stores)).toBe(TINY_VERSION)
  expect(await servedVersion(service)).toBe(TINY_VERSION)
}

function twice(line: string): string {
  return line + line.replace('id: ash', 'id: oak').replace('name: Ash', 'name: Oak')
}
