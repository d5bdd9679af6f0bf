// What the commands print for a version that was removed, and for the changes between two.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { buildArgs, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'
import { run } from './made-up.ts'

const NOW_MS = Date.parse('2025-02-26T00:00:00Z')

/** Stores of which the older version was removed. */
let pruned: Stores

const inWorld = (...args: readonly string[]) => run(args, { now: () => NOW_MS })
const storeArgs = ({ url, privateUrl }: Stores) => ['--store', url, '--private-store', privateUrl]

beforeAll(async () => {
  pruned = await copyStores(inject('tinyStore'))
  expect(await inWorld(...buildArgs(pruned))).toMatchObject({ code: 0 })
  const exit = await inWorld('prune', '--yes', '--keep-days', '0', ...storeArgs(pruned))
  expect(exit).toMatchObject({ code: 0, out: `removed ${TINY_VERSION}\n` })
})

test('a version that was removed is listed as removed', async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(pruned))
  expect(JSON.parse(out)).toMatchObject([
    { version: NEXT_VERSION, is_served: true, is_removed: false },
    { version: TINY_VERSION, is_served: false, is_removed: true },
  ])
  const lines = (await inWorld('versions', ...storeArgs(pruned))).out.trim().split('\n')
  expect(lines.map(line => line.split('  ').slice(3))).toEqual([['served'], ['removed']])
})

test.each([
  ['rollback', ['rollback', TINY_VERSION]],
  ['diff', ['diff', TINY_VERSION, NEXT_VERSION]],
])('a version that was removed is refused as such by %s', async (_name, args) => {
  const exit = await inWorld(...args, ...storeArgs(pruned))
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toContain(`${TINY_VERSION} was removed by \`highwater prune\``)
})

test('a version that was removed leaves no folder behind in either store', async () => {
  for (const path of [
    join(fileURLToPath(pruned.url), 'v1/snapshots/20250224T001500Z'),
    join(fileURLToPath(pruned.privateUrl), '20250224T001500Z'),
  ]) {
    await expect(access(path), path).rejects.toThrow('ENOENT')
  }
})
