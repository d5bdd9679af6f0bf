// What the commands on published stores print: faults that verify-store finds, what prune removes, and a version that was removed.
import { beforeAll, expect, test } from 'vitest'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { servedLine } from '#storage/nginx-files.ts'
import { openStore } from '#storage/open-store.ts'
import { BEFORE } from '#test/static-build/hand-order.ts'
import { NOW_MS, newSigner } from '#test/static-build/signed-store.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import type { Stores } from '#test/support/books/publish-book.ts'
import { publishSigned } from '#test/support/history/signed-service.ts'
import { damage } from '#test/support/stores/store-doubles.ts'
import { copyStores, storeArgs } from '#test/support/stores/stores.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const SOUND = /^\S+ {2}\d+ objects, all as published$/

let published: Stores
beforeAll(async () => {
  published = await publishSigned(newSigner(), () => Date.parse(HAND_VERSION))
})

async function signedStores() {
  const { url, privateUrl } = await copyStores(published)
  const verify = (...args: string[]) => run(['verify-store', '--store', url, ...args], { now: () => NOW_MS })
  return { store: await openStore(url), privateStore: await openStore(privateUrl), verify }
}

const OCTETS = { content_type: 'application/octet-stream' }

test('verify-store reports a sound store in one line for each version, newest first, and exits 0', async () => {
  const { verify } = await signedStores()
  const { code, out, err } = await verify()
  const lines = out.trimEnd().split('\n')
  expect([code, err, lines.map(line => line.split(' ')[0])]).toEqual([0, '', [HAND_VERSION, BEFORE]])
  for (const line of lines) expect(line).toMatch(SOUND)
})

test('verify-store reports every fault of every version in one run, and exits 1', async () => {
  const { store, privateStore, verify } = await signedStores()
  const lost = `${versionFolder(HAND_VERSION)}/summary.json`
  const altered = `${versionFolder(BEFORE)}/dataset.json.br`
  const hidden = '20240531T001500Z/snapshot.trades.arrow'
  await store.remove(lost)
  await store.replace(altered, damage((await store.read(altered))!), OCTETS)
  await store.remove(`${manifestKey(BEFORE)}.sig`)
  await privateStore.remove(hidden)
  const { code, out, err } = await verify()
  const [newer, older] = out.split('\n')
  expect([code, newer]).toEqual([1, `${HAND_VERSION}  ${lost} is missing`])
  expect(older).toContain(`${manifestKey(BEFORE)} has no signature`)
  expect(older).toContain(`${altered} is altered`)
  expect(older).toContain(`${hidden} is missing`)
  expect(err).toContain('4 fault(s)')
})

test('verify-store names the version that nginx serves if it is none of the log, and notes one of an older entry', async () => {
  const { store, verify } = await signedStores()
  const serve = (version: string) =>
    store.replace('nginx/served.conf', new TextEncoder().encode(servedLine(version)), OCTETS)
  await serve('2024-06-09T00:15:00Z')
  const altered = await verify()
  expect([altered.code, altered.out.split('\n')[0]]).toEqual([
    1,
    'nginx/served.conf is not what the log gives: `highwater refresh` writes it again',
  ])
  await serve(BEFORE)
  const late = await verify()
  expect(late.code).toBe(0)
  expect(late.err).toContain('nginx/served.conf is of entry 1, not of the newest')
})

test('verify-store reports a broken log, and reads the versions in any case', async () => {
  const { store, verify } = await signedStores()
  await store.remove('v1/pointer/0000000001.json')
  const { code, out } = await verify()
  expect(code).toBe(1)
  expect(out).toMatch(
    new RegExp(`^v1/pointer/0000000001.json is missing\n${HAND_VERSION}  \\d+ objects, all as published\n$`),
  )
})

test('verify-store --json prints one document with every check, sound or not', async () => {
  const { store, verify } = await signedStores()
  const sound = await verify('--json')
  expect([sound.code, JSON.parse(sound.out)]).toMatchObject([
    0,
    { url: store.url, sound: true, head: { seq: 2 } },
  ])
  await store.remove(`${versionFolder(HAND_VERSION)}/summary.json`)
  const spoilt = await verify('--json')
  expect([spoilt.code, JSON.parse(spoilt.out)]).toMatchObject([1, { sound: false }])
})

test('verify-store of an empty store is a fault: nothing is published', async () => {
  const url = `file://${await temporaryFolder()}`
  const { code, out } = await run(['verify-store', '--store', url])
  expect([code, out]).toEqual([1, 'v1/pointer/0000000001.json is missing: nothing is published there\n'])
})

const inWorld = (...args: readonly string[]) => run(args, { now: () => NOW_MS })
const prune = (...args: readonly string[]) =>
  inWorld('prune', '--keep-days', '0', ...args, ...storeArgs(published))
const listed = async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(published))
  return (JSON.parse(out) as { version: string; is_removed: boolean }[])
    .filter(each => !each.is_removed)
    .map(({ version }) => version)
}

const FOUND = { versions: [BEFORE], unfinished: [] }

test('prune without --yes names what it would remove, and removes nothing', async () => {
  const exit = await prune()
  expect(exit).toMatchObject({ code: 0, out: `would remove ${BEFORE}\n` })
  expect(exit.err).toContain('--yes')
  expect(JSON.parse((await prune('--json')).out)).toEqual({ ...FOUND, are_removed: false })
  expect(await listed()).toEqual([HAND_VERSION, BEFORE])
})

test('prune with --yes removes what it named before, and then finds nothing', async () => {
  const copy = storeArgs(await copyStores(published))
  const forPeople = await inWorld('prune', '--yes', '--keep-days', '0', ...copy)
  expect(forPeople).toMatchObject({ code: 0, out: `removed ${BEFORE}\n` })
  expect(JSON.parse((await prune('--yes', '--json')).out)).toEqual({ ...FOUND, are_removed: true })
  expect(await listed()).toEqual([HAND_VERSION])
  expect(await prune()).toMatchObject({ code: 0, out: 'nothing to remove\n', err: '' })
})

test('a version that was removed is listed as removed', async () => {
  const { out } = await inWorld('versions', '--json', ...storeArgs(published))
  expect(JSON.parse(out)).toMatchObject([
    { version: HAND_VERSION, is_served: true, is_removed: false },
    { version: BEFORE, is_served: false, is_removed: true },
  ])
  const lines = (await inWorld('versions', ...storeArgs(published))).out.trim().split('\n')
  expect(lines.map(line => line.split('  ').slice(3))).toEqual([['served'], ['removed']])
})

test.each([
  ['rollback', ['rollback', BEFORE, '--allow-unsigned']],
  ['diff', ['diff', BEFORE, HAND_VERSION]],
])('a version that was removed is refused as such by %s', async (_name, args) => {
  const exit = await inWorld(...args, ...storeArgs(published))
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toContain(`${BEFORE} was removed by \`highwater prune\``)
})
