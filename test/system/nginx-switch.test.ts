// nginx while the pointer moves under load: each answer is of one version, and nginx follows whichever process is killed.
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { highwater } from '../support/history/highwater-process.ts'
import { startServing } from '../support/history/history-process.ts'
import {
  latestOf,
  openSwitchGround,
  PATIENT,
  rollBackHalf,
  storeArgs,
  tagOf,
  VERSIONS,
} from '../support/history/nginx-switch.ts'
import { addressOf, ask, siteOf, startFiles, startOrigin } from '../support/servers/cdn.ts'
import { copyStores, pointerOf } from '../support/stores/stores.ts'

/** `make soak` moves it for minutes. */
const MOVES = 16

let stores: Stores

beforeAll(async () => {
  stores = await copyStores(inject('tinyStore'))
})

describe('nginx, read without a pause,', () => {
  test('sends headers and body of one version, through builds, rollbacks and kills between entry and switch', async () => {
    const ground = await openSwitchGround(stores)
    const seen = await ground.whileReading(async () => {
      for (let i = 0; i < MOVES; i++) await ground.move(i)
    })
    for (const version of VERSIONS) expect(seen.get(version)).toBeGreaterThan(0)
  })
})

test('without a tier the next command switches nginx', async () => {
  const gone = await startOrigin((_request, response) => response.writeHead(299).end())
  const files = await startFiles(await siteOf(gone, { store: fileURLToPath(stores.url) }))
  const before = await pointerOf(stores)
  const [target = ''] = VERSIONS.filter(version => version !== before)
  await rollBackHalf(stores, target)
  expect(await latestOf(files)).toBe(tagOf(before ?? ''))
  expect(await highwater(['rollback', target, ...storeArgs(stores)])).toMatchObject({ code: 1 }) // it is served
  await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(target))
})

test('a version that was pruned is answered by the tier: 410', async () => {
  const tier = await startServing(stores)
  const files = await startFiles(await siteOf(addressOf(tier.url), { store: fileURLToPath(stores.url) }))
  const served = await pointerOf(stores)
  const [other = ''] = VERSIONS.filter(version => version !== served)
  const address = `${files.url}/v1/snapshots/${toCompactInstant(other)}/strategies`
  expect((await ask(address)).status).toBe(200)
  expect(await highwater(['prune', '--yes', '--keep-days', '0', ...storeArgs(stores)])).toMatchObject({
    code: 0,
  })
  await expect.poll(async () => (await ask(address)).status, PATIENT).toBe(410)
})
