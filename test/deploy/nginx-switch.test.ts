// nginx while the pointer moves under load: each answer is of one version, and nginx follows whichever process is killed.
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { run } from '../cli/made-up.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { startServing } from '../support/history/history-process.ts'
import {
  latestOf,
  openSwitchGround,
  PATIENT,
  rollBackHalf,
  tagOf,
  VERSIONS,
} from '../support/history/nginx-switch.ts'
import { addressOf, ask, siteOf, startFiles, startOrigin } from '../support/servers/cdn.ts'
import { copyStores, pointerOf, storeArgs } from '../support/stores/stores.ts'

/** One of them is killed between entry and switch; `make soak` moves it for minutes. */
const MOVES = 6

const NOW = { now: () => Date.now() }

let stores: Stores

beforeAll(async () => {
  stores = await copyStores(inject('tinyStore'))
})

test('nginx sends headers and body of one version, through builds, rollbacks and kills between entry and switch', async () => {
  const ground = await openSwitchGround(stores)
  const seen = await ground.whileReading(async isOver => {
    for (let i = 0; i < MOVES && !isOver(); i++) await ground.move(i)
  })
  for (const version of VERSIONS) expect(seen.get(version)).toBeGreaterThan(0)
})

test('after a rollback that was killed before nginx followed, and without a tier, the next command switches nginx', async () => {
  const gone = await startOrigin((_request, response) => response.writeHead(299).end())
  const files = await startFiles(await siteOf(gone, { store: fileURLToPath(stores.url) }))
  const before = await pointerOf(stores)
  const [target = ''] = VERSIONS.filter(version => version !== before)
  await rollBackHalf(stores, target)
  expect(await latestOf(files)).toBe(tagOf(before ?? ''))
  expect(await run(['rollback', target, ...storeArgs(stores)], NOW)).toMatchObject({ code: 1 }) // it is served
  await expect.poll(() => latestOf(files), PATIENT).toBe(tagOf(target))
})

test('the files of a version that was pruned are answered by the tier with 410', async () => {
  const tier = await startServing(stores)
  const files = await startFiles(await siteOf(addressOf(tier.url), { store: fileURLToPath(stores.url) }))
  const served = await pointerOf(stores)
  const [other = ''] = VERSIONS.filter(version => version !== served)
  const address = `${files.url}/v1/snapshots/${toCompactInstant(other)}/strategies`
  expect((await ask(address)).status).toBe(200)
  expect(await run(['prune', '--yes', '--keep-days', '0', ...storeArgs(stores)], NOW)).toMatchObject({
    code: 0,
  })
  await expect.poll(async () => (await ask(address)).status, PATIENT).toBe(410)
})
