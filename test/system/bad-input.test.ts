// Whatever is wrong with a book: exit code 1, every problem on stderr with its place, nothing published, and the
// version before still served by a process that runs all the while.
import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, inject, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_BOOK, TINY_LAST_DAY, TINY_VERSION } from '../support/books/publish-book.ts'
import { type ServingProcess, servedVersion, startServing } from '../support/history/history-process.ts'
import { buildArgs, contentOf, copyStores, NEXT_VERSION, pointerOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const LEDGER = 'ledgers/beech.csv'
const MODULE = 'strategies/ash.ts'

/** Damages a copy of the tiny book. */
type Damage = (book: string) => Promise<void>

const cutGzip: Damage = async book => {
  const text = await readFile(join(book, LEDGER))
  await rm(join(book, LEDGER))
  await writeFile(join(book, `${LEDGER}.gz`), gzipSync(text).subarray(0, -20))
}

/** One of each kind, and parts of what is said about it; the tests of the readers and of the modules have all others. */
const BAD_BOOKS = casesOf<[what: string, Damage, expected: readonly string[]]>`
a gzip file that is cut off -> ${cutGzip} -> ${[`${LEDGER}.gz:`, 'expected a whole gzip stream, got its beginning: the file is cut off']}
an inception before the first reported return -> ${edit('catalogue.yaml', text => text.replace('inception: 2024-02-05', 'inception: 2024-01-30'))} -> ${['catalogue.yaml:11:', 'inception: expected a day that returns/elm.csv covers whole, 2024-01-31 to 2025-02-23']}
two sources for one strategy -> ${(book: string) => cp(join(book, LEDGER), join(book, 'ledgers/ash.csv'))} -> ${['catalogue.yaml:9:', 'expected ash to have no other source than its module, got ledgers/ash.csv too: remove one']}
a module that throws while it is imported -> ${(book: string) => appendFile(join(book, MODULE), "throw new RangeError('too early')\n")} -> ${[`${MODULE}:21:`, 'RangeError: too early']}
a module that ends the process -> ${edit(MODULE, text => text.replace('onBar(', 'onBar(): never { return process.exit(0) },\n  was('))} -> ${[`${MODULE}:13:`, 'process is not defined']}`

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
  const declared = ['--restate', 'ash,beech,elm,yew', '--reason', 'an earlier window']
  const allowed = [...buildArgs(own, { asOf: '2024-12-31' }), ...declared]
  expect(await build(allowed)).toMatchObject({ code: 0 })
  expect(await pointerOf(own)).toBe(NEXT_VERSION)
})

const build = (args: readonly string[]) => run(args, { now: () => Date.now() })

/** Builds a book that must be refused, and returns what was said about it. */
async function expectRefusal(book: string): Promise<string> {
  const exit = await build(buildArgs(stores, { book }))
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

/** A damaged copy of the tiny book. */
async function damagedBook(damage: Damage): Promise<string> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  await damage(book)
  return book
}

/** Rewrites a file of the book; a damage that changes nothing is a mistake of the test. */
function edit(path: string, change: (text: string) => string): Damage {
  return async book => {
    const file = join(book, path)
    const text = await readFile(file, 'utf8')
    const changed = change(text)
    if (changed === text) throw new Error(`the damage left ${path} as it was`)
    await writeFile(file, changed)
  }
}
