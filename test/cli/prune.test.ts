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
  expect(JSON.parse((await prune('--yes', '--json')).out)).toEqual({
    versions: [TINY_VERSION],
    unfinished: [],
    are_removed: true,
  })
  expect(await published()).toEqual([NEXT_VERSION])
  expect(await prune()).toMatchObject({ code: 0, out: 'nothing to remove\n', err: '' })
})
