// What prune removes, and what the commands print for a version that was removed.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { buildArgs, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'
import { run } from './made-up.ts'

const NOW_MS = Date.parse('2025-02-26T00:00:00Z')

let stores: Stores

const inWorld = (...args: readonly string[]) => run(args, { now: () => NOW_MS })
const storeArgs = ({ url, privateUrl }: Stores) => ['--store', url, '--private-store', privateUrl]
const prune = (...args: readonly string[]) =>
  inWorld('prune', '--keep-days', '0', ...args, ...storeArgs(stores))
const published = async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(stores))
  return (JSON.parse(out) as { version: string; is_removed: boolean }[])
    .filter(each => !each.is_removed)
    .map(({ version }) => version)
}

beforeAll(async () => {
  stores = await copyStores(inject('tinyStore'))
  expect(await inWorld(...buildArgs(stores))).toMatchObject({ code: 0 })
})

test('prune without --yes names what it would remove, and removes nothing', async () => {
  const exit = await prune()
  expect(exit).toMatchObject({ code: 0, out: `would remove ${TINY_VERSION}\n` })
  expect(exit.err).toContain('--yes')
  expect(JSON.parse((await prune('--json')).out)).toEqual({
    versions: [TINY_VERSION],
    unfinished: [],
    are_removed: false,
  })
  expect(await published()).toEqual([NEXT_VERSION, TINY_VERSION])
})

test('prune with --yes removes what it named before, and then finds nothing', async () => {
  const copy = storeArgs(await copyStores(stores))
  const forPeople = await inWorld('prune', '--yes', '--keep-days', '0', ...copy)
  expect(forPeople).toMatchObject({ code: 0, out: `removed ${TINY_VERSION}\n` })
  expect(JSON.parse((await prune('--yes', '--json')).out)).toEqual({
    versions: [TINY_VERSION],
    unfinished: [],
    are_removed: true,
  })
  expect(await published()).toEqual([NEXT_VERSION])
  expect(await prune()).toMatchObject({ code: 0, out: 'nothing to remove\n', err: '' })
})

test('a version that was removed is listed as removed', async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(stores))
  expect(JSON.parse(out)).toMatchObject([
    { version: NEXT_VERSION, is_served: true, is_removed: false },
    { version: TINY_VERSION, is_served: false, is_removed: true },
  ])
  const lines = (await inWorld('versions', ...storeArgs(stores))).out.trim().split('\n')
  expect(lines.map(line => line.split('  ').slice(3))).toEqual([['served'], ['removed']])
})

test.each([
  ['rollback', ['rollback', TINY_VERSION]],
  ['diff', ['diff', TINY_VERSION, NEXT_VERSION]],
])('a version that was removed is refused as such by %s', async (_name, args) => {
  const exit = await inWorld(...args, ...storeArgs(stores))
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toContain(`${TINY_VERSION} was removed by \`highwater prune\``)
})

test('a version that was removed leaves no folder behind in either store', async () => {
  for (const path of [
    join(fileURLToPath(stores.url), 'v1/snapshots/20250224T001500Z'),
    join(fileURLToPath(stores.privateUrl), '20250224T001500Z'),
  ]) {
    await expect(access(path), path).rejects.toThrow('ENOENT')
  }
})
