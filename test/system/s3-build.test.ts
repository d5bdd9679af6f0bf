// Building into a bucket and serving from it is what it is with folders, byte for byte.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openStore } from '#storage/open-store.ts'
import { run } from '../cli/made-up.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import { publishBook, type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { type ServingProcess, servedVersion, startServing } from '../support/history/history-process.ts'
import { type S3Proxy, startS3Proxy } from '../support/servers/s3-proxy.ts'
import { copyToBucket, s3Env } from '../support/stores/s3-stores.ts'
import { manifestOf } from '../support/stores/stored-bytes.ts'
import {
  buildArgs,
  faultsOf,
  NEXT_VERSION,
  newStores,
  pointerOf,
  versionContentOf,
  withStart,
} from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

/** Points that are not files: computed from the snapshot in the private store. */
const COMPUTED = [
  '/v1/strategies/pine0/stats?risk_pct=0.01',
  '/v1/strategies/pine0/curve?risk_pct=0.03&format=csv',
  '/v1/strategies/pine0/returns?from=2025-01-01',
  '/v1/export?format=csv&risk_pct=0.02',
]

/** A folder and a bucket in which a book of two strategies was published, and then built again. */
let files: Stores
let bucket: Required<Stores>
let proxy: S3Proxy
/** Reads the bucket through the proxy; it was there before the build. */
let service: ServingProcess

beforeAll(async () => {
  const book = await writeFleetBook(join(await lastingFolder(), 'book'), 2)
  files = await withStart(newStores())
  await publishBook(book, files)
  bucket = await copyToBucket(files)
  proxy = await startS3Proxy()
  service = await startServing({ ...bucket, s3: proxy.access })
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  expect(await run(buildArgs(files, { book }), { now: () => Date.now() })).toMatchObject({ code: 0 })
  expect(await inBucket(buildArgs(bucket, { book }))).toMatchObject({ code: 0 })
})

const inBucket = (args: readonly string[]) => run(args, { env: s3Env(bucket.s3), now: () => Date.now() })

test('a version that is built into a bucket while a service runs on it is served without a restart', async () => {
  await service.prints(new RegExp(`swapped ${TINY_VERSION} for ${NEXT_VERSION}`))
  expect(await servedVersion(service)).toBe(NEXT_VERSION)
})

test('a book is built into a bucket and served from it with the bytes that a folder gives', async () => {
  expect(await versionContentOf(bucket)).toEqual(await versionContentOf(files))
  expect(await faultsOf(bucket)).toEqual([])
  await service.prints(/swapped/)
  const fromFiles = await startServing(files)
  const points = [...(await publishedUrls(files)), ...COMPUTED]
  expect(points.length).toBeGreaterThan(30)
  for (const point of points) {
    for (const coding of ['identity', 'br', 'gzip']) {
      expect(await answerOf(service, point, coding), point).toEqual(await answerOf(fromFiles, point, coding))
    }
  }
})

/** Every published point by its path. */
async function publishedUrls({ url }: Stores): Promise<string[]> {
  const { artifacts } = await manifestOf(await openStore(url), NEXT_VERSION)
  return artifacts.map(artifact => artifact.url)
}

/** An answer without its own address and the time of the request. */
async function answerOf({ url }: ServingProcess, point: string, coding: string) {
  const answer = await fetch(url + point, { headers: { 'accept-encoding': coding } })
  const { date: _date, 'server-timing': _timing, ...headers } = Object.fromEntries(answer.headers)
  return { status: answer.status, headers, body: (await answer.text()).replaceAll(url, 'http://here') }
}

test('a tier that loses its bucket computes what it would have read, says so, and takes the bucket back', async () => {
  const points = ['/v1/strategies', '/v1/strategies/pine0/curve', '/v1/export?format=csv']
  const bodiesOf = () => Promise.all(points.map(async point => (await fetch(service.url + point)).text()))
  const [before, version] = [await bodiesOf(), await servedVersion(service)]
  proxy.meddle(() => 'error 500')
  expect(await bodiesOf()).toEqual(before)
  await service.prints(/still serving the version before: cannot read s3:\S+: the service answered 500/)
  expect(await servedVersion(service)).toBe(version)
  proxy.meddle(() => null)
  expect(await bodiesOf()).toEqual(before)
})

test('versions, verify-store, rollback and refresh work on the bucket', async () => {
  const named = ['--store', bucket.url]
  const list = await inBucket(['versions', ...named])
  expect(list.out).toMatch(new RegExp(`^${NEXT_VERSION} .* served\\n${TINY_VERSION} `))
  expect(await inBucket(['rollback', TINY_VERSION, ...named])).toMatchObject({ code: 0 })
  expect(await pointerOf(bucket)).toBe(TINY_VERSION)
  expect(await inBucket(['refresh', ...named])).toMatchObject({ code: 0 })
  expect(await inBucket(['verify-store', ...named])).toMatchObject({ code: 0 })

  const store = await openStore(bucket.url, bucket.s3)
  const lost = (await store.list('v1/snapshots/')).find(key => key.endsWith('/summary.json'))!
  await store.remove(lost)
  const verified = await inBucket(['verify-store', ...named])
  expect(verified).toMatchObject({ code: 1, out: expect.stringContaining(`${lost} is missing`) })
})
