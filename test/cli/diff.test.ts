// The changes between two versions, as `highwater diff` prints them.
import { beforeAll, expect, test } from 'vitest'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { buildArgs, NEXT_VERSION, newStores } from '../support/stores/stores.ts'
import { run } from './made-up.ts'

/** Two versions, the second with two days more. */
let stores: Stores

const inWorld = (args: readonly string[]) => run(args, { now: () => Date.parse(NEXT_VERSION) })
const diff = ({ url, privateUrl }: Stores, before: string, after: string) =>
  inWorld(['diff', before, after, '--store', url, '--private-store', privateUrl])

beforeAll(async () => {
  stores = await newStores()
  const first = buildArgs(stores, { version: TINY_VERSION, asOf: '2025-02-20' })
  expect(await inWorld(first)).toMatchObject({ code: 0 })
  expect(await inWorld(buildArgs(stores))).toMatchObject({ code: 0 })
})

test('diff prints what is appended to each strategy, with trades in the right number', async () => {
  const [title, ...lines] = (await diff(stores, TINY_VERSION, NEXT_VERSION)).out.trim().split('\n')
  expect(title).toBe(`${TINY_VERSION} -> ${NEXT_VERSION}: history is only appended to`)
  expect(lines.length).toBeGreaterThan(1)
  for (const line of lines) {
    expect(line).toMatch(/^[a-z]+: days to 2025-02-22 \(\+2\), (1 new trade|(0|[2-9]|\d\d+) new trades)(,|$)/)
  }
})

test('diff prints a value that is gone as none, like the refusal of a build', async () => {
  const { out } = await diff(stores, NEXT_VERSION, TINY_VERSION)
  expect(out).toContain('history is restated')
  expect(out).toMatch(/2025-02-21: -?\d\S* -> none/)
  expect(out).not.toContain('null')
})
