// nginx while the pointer moves under load: each answer is of one version, and nginx follows whichever process is killed.
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { rollBack } from '#static-build/move-pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import type { Layer } from '../../deploy/layers.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { highwater } from '../support/history/highwater-process.ts'
import { startServing } from '../support/history/history-process.ts'
import { readThrough } from '../support/history/nginx-readers.ts'
import { fileGround } from '../support/kills/grounds.ts'
import { addressOf, ask, siteOf, startFiles, startOrigin } from '../support/servers/cdn.ts'
import { buildArgs, copyStores, NEXT_VERSION, pointerOf } from '../support/stores/stores.ts'

const VERSIONS = [TINY_VERSION, NEXT_VERSION]
const MOVES = 16
const READERS = 6

/** nginx follows within a second, and the tier repairs within five, on a machine that does nothing else. */
const PATIENT = { timeout: 60_000, interval: 50 }

let stores: Stores
let store: ObjectStore

beforeAll(async () => {
  stores = await copyStores(inject('tinyStore'))
  store = await openStore(stores.url)
})

const latestOf = async ({ url }: Layer) => (await ask(`${url}/v1/dataset`)).headers['cache-tag']
const tagOf = (version: string): string => `v-${toCompactInstant(version)}`
const storeArgs = () => ['--store', stores.url, '--private-store', stores.privateUrl]

/** Rolls back in a process that is killed at the line that switches nginx: the entry stands, and nginx has not followed. */
async function rollBackHalf(version: string): Promise<void> {
  const { runUntil } = await fileGround('') // without a key
  const kill = { at: { path: '/nginx/served[.]conf$' }, isDone: false }
  const exit = await runUntil(['rollback', version, ...storeArgs()], kill)
  expect([exit.signal, await pointerOf(stores)]).toEqual(['SIGKILL', version])
}

describe('nginx, read without a pause,', () => {
  test('sends headers and body of one version, through builds, rollbacks and kills between entry and switch', async () => {
    const tier = await startServing(stores)
    const files = await startFiles(await siteOf(addressOf(tier.url), { store: fileURLToPath(stores.url) }))
    expect(await latestOf(files)).toBe(tagOf(TINY_VERSION))
    expect(await highwater(buildArgs(stores))).toMatchObject({ code: 0 })
    await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(NEXT_VERSION))

    const readers = await readThrough(files.url, store, VERSIONS, READERS)
    for (let move = 0; move < MOVES; move++) {
      const version = VERSIONS[move % 2]!
      if (move % 6 === 5) await rollBackHalf(version)
      else await rollBack(store, version, { nowMs: Date.now(), signer: null })
      await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(version))
    }
    const seen = await readers.stop()
    for (const version of VERSIONS) expect(seen.get(version)).toBeGreaterThan(0)
  })
})

test('without a tier the next command switches nginx', async () => {
  const gone = await startOrigin((_request, response) => response.writeHead(299).end())
  const files = await startFiles(await siteOf(gone, { store: fileURLToPath(stores.url) }))
  const before = await pointerOf(stores)
  const [target = ''] = VERSIONS.filter(version => version !== before)
  await rollBackHalf(target)
  expect(await latestOf(files)).toBe(tagOf(before ?? ''))
  expect(await highwater(['rollback', target, ...storeArgs()])).toMatchObject({ code: 1 }) // it is served
  await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(target))
})

test('a version that was pruned is answered by the tier: 410', async () => {
  const tier = await startServing(stores)
  const files = await startFiles(await siteOf(addressOf(tier.url), { store: fileURLToPath(stores.url) }))
  const served = await pointerOf(stores)
  const [other = ''] = VERSIONS.filter(version => version !== served)
  const address = `${files.url}/v1/snapshots/${toCompactInstant(other)}/strategies`
  expect((await ask(address)).status).toBe(200)
  expect(await highwater(['prune', '--keep-days', '0', ...storeArgs()])).toMatchObject({ code: 0 })
  await expect.poll(async () => (await ask(address)).status, PATIENT).toBe(410)
})
