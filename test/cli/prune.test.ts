// What prune removes, and what the commands print for a version that was removed.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { BEFORE } from '#test/static-build/hand-order.ts'
import { HAND_VERSION } from '../support/books/hand-snapshot.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { publishSigned } from '../support/history/signed-service.ts'
import { copyStores, storeArgs } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'
import { run } from './made-up.ts'

const NOW_MS = Date.parse('2024-06-02T00:00:00Z')

let stores: Stores

const inWorld = (...args: readonly string[]) => run(args, { now: () => NOW_MS })
const prune = (...args: readonly string[]) =>
  inWorld('prune', '--keep-days', '0', ...args, ...storeArgs(stores))
const published = async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(stores))
  return (JSON.parse(out) as { version: string; is_removed: boolean }[])
    .filter(each => !each.is_removed)
    .map(({ version }) => version)
}

beforeAll(async () => {
  const folder = join(await lastingFolder(), 'store')
  stores = await publishSigned(folder, null, () => Date.parse(HAND_VERSION))
})

test('prune without --yes names what it would remove, and removes nothing', async () => {
  const exit = await prune()
  expect(exit).toMatchObject({ code: 0, out: `would remove ${BEFORE}\n` })
  expect(exit.err).toContain('--yes')
  expect(JSON.parse((await prune('--json')).out)).toEqual({
    versions: [BEFORE],
    unfinished: [],
    are_removed: false,
  })
  expect(await published()).toEqual([HAND_VERSION, BEFORE])
})

test('prune with --yes removes what it named before, and then finds nothing', async () => {
  const copy = storeArgs(await copyStores(stores))
  const forPeople = await inWorld('prune', '--yes', '--keep-days', '0', ...copy)
  expect(forPeople).toMatchObject({ code: 0, out: `removed ${BEFORE}\n` })
  expect(JSON.parse((await prune('--yes', '--json')).out)).toEqual({
    versions: [BEFORE],
    unfinished: [],
    are_removed: true,
  })
  expect(await published()).toEqual([HAND_VERSION])
  expect(await prune()).toMatchObject({ code: 0, out: 'nothing to remove\n', err: '' })
})

test('a version that was removed is listed as removed', async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(stores))
  expect(JSON.parse(out)).toMatchObject([
    { version: HAND_VERSION, is_served: true, is_removed: false },
    { version: BEFORE, is_served: false, is_removed: true },
  ])
  const lines = (await inWorld('versions', ...storeArgs(stores))).out.trim().split('\n')
  expect(lines.map(line => line.split('  ').slice(3))).toEqual([['served'], ['removed']])
})

test.each([
  ['rollback', ['rollback', BEFORE]],
  ['diff', ['diff', BEFORE, HAND_VERSION]],
])('a version that was removed is refused as such by %s', async (_name, args) => {
  const exit = await inWorld(...args, ...storeArgs(stores))
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toContain(`${BEFORE} was removed by \`highwater prune\``)
})
