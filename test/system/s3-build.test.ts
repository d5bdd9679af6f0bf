// Building into a bucket and serving from it is what it is with folders, byte for byte.
import { expect, test } from 'vitest'
import { manifestKey } from '#core/contract/artifacts.ts'
import { manifest } from '#core/contract/manifest.ts'
import { openStore } from '#storage/open-store.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { highwater, type StartOptions } from '../support/history/highwater-process.ts'
import { type ServingProcess, servedVersion, startServing } from '../support/history/history-process.ts'
import type { Exit } from '../support/processes.ts'
import { startS3Proxy } from '../support/servers/s3-proxy.ts'
import { newS3Stores, s3Env, tinyS3Stores } from '../support/stores/s3-stores.ts'
import { bytesOf } from '../support/stores/stored-bytes.ts'
import {
  buildArgs,
  faultsOf,
  NEXT_VERSION,
  newStores,
  pointerOf,
  versionContentOf,
} from '../support/stores/stores.ts'

/** Points that are not files: computed from the snapshot in the private store. */
const COMPUTED = [
  '/v1/strategies/ash/stats?risk_pct=0.01',
  '/v1/strategies/ash/curve?risk_pct=0.03&format=csv',
  '/v1/strategies/ash/returns?from=2025-01-01',
  '/v1/export?format=csv&risk_pct=0.02',
]

test('a book is built into a bucket and served from it with the bytes that a folder gives', async () => {
  const [files, bucket] = [await newStores(), await newS3Stores()]
  for (const [stores, options] of [
    [files, {}],
    [bucket, { env: s3Env(bucket.s3) }],
  ] satisfies [Stores, StartOptions][]) {
    expect(await highwater(buildArgs(stores), options)).toMatchObject({ code: 0 })
  }
  expect(await versionContentOf(bucket)).toEqual(await versionContentOf(files))
  expect(await faultsOf(bucket)).toEqual([])

  const [fromFiles, fromBucket] = [await startServing(files), await startServing(bucket)]
  const points = [...(await publishedUrls(files)), ...COMPUTED]
  expect(points.length).toBeGreaterThan(40)
  for (const point of points) {
    for (const coding of ['identity', 'br', 'gzip']) {
      expect(await answerOf(fromBucket, point, coding), point).toEqual(
        await answerOf(fromFiles, point, coding),
      )
    }
  }
})

/** Every published point by its path. */
async function publishedUrls({ url }: Stores): Promise<string[]> {
  const bytes = await bytesOf(await openStore(url), manifestKey(NEXT_VERSION))
  return manifest.parse(JSON.parse(new TextDecoder().decode(bytes))).artifacts.map(artifact => artifact.url)
}

/** An answer without its own address and the time of the request. */
async function answerOf({ url }: ServingProcess, point: string, coding: string) {
  const answer = await fetch(url + point, { headers: { 'accept-encoding': coding } })
  const { date: _date, 'server-timing': _timing, ...headers } = Object.fromEntries(answer.headers)
  return { status: answer.status, headers, body: (await answer.text()).replaceAll(url, 'http://here') }
}

test('a version that is built while the service runs on the bucket is served without a restart', async () => {
  const stores = await tinyS3Stores()
  const service = await startServing(stores)
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  expect(await run(stores, buildArgs(stores))).toMatchObject({ code: 0 })
  await service.prints(new RegExp(`swapped ${TINY_VERSION} for ${NEXT_VERSION}`))
  expect(await servedVersion(service)).toBe(NEXT_VERSION)
})

test('a tier that loses its bucket computes what it would have read, says so, and takes the bucket back', async () => {
  const proxy = await startS3Proxy()
  const service = await startServing({ ...(await tinyS3Stores()), s3: proxy.access })
  const points = ['/v1/strategies', '/v1/strategies/ash/curve', '/v1/export?format=csv']
  const bodiesOf = () => Promise.all(points.map(async point => (await fetch(service.url + point)).text()))
  const before = await bodiesOf()
  proxy.meddle(() => 'error 500')
  expect(await bodiesOf()).toEqual(before)
  await service.prints(/still serving the version before: cannot read s3:\S+: the service answered 500/)
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  proxy.meddle(() => null)
  expect(await bodiesOf()).toEqual(before)
})

test('versions, verify-store, rollback and refresh work on the bucket', async () => {
  const stores = await tinyS3Stores()
  const named = ['--store', stores.url]
  expect(await run(stores, buildArgs(stores))).toMatchObject({ code: 0 })
  const list = await run(stores, ['versions', ...named])
  expect(list.stdout).toMatch(new RegExp(`^${NEXT_VERSION} .* served\\n${TINY_VERSION} `))
  expect(await run(stores, ['rollback', TINY_VERSION, ...named])).toMatchObject({ code: 0 })
  expect(await pointerOf(stores)).toBe(TINY_VERSION)
  expect(await run(stores, ['refresh', ...named])).toMatchObject({ code: 0 })
  expect(await run(stores, ['verify-store', ...named])).toMatchObject({ code: 0 })

  const store = await openStore(stores.url, stores.s3)
  const lost = (await store.list('v1/snapshots/')).find(key => key.endsWith('/summary.json'))!
  await store.remove(lost)
  const verified = await run(stores, ['verify-store', ...named])
  expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining(`${lost} is missing`) })
})

const run = ({ s3 }: Required<Stores>, args: readonly string[]): Promise<Exit> =>
  highwater(args, { env: s3Env(s3) })
