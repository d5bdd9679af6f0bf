// Building into a bucket and serving from it is what it is with folders, byte for byte. A build that cannot reach its bucket, may not
// write to it, or loses it on the way exits with 1 and the reason, publishes nothing half, and leaves the served version as it is.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openStore } from '#storage/open-store.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { run } from '../cli/made-up.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import { publishBook, type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { type ServingProcess, servedVersion, startServing } from '../support/history/history-process.ts'
import { type Asked, type Fault, type S3Proxy, startS3Proxy } from '../support/servers/s3-proxy.ts'
import { copyToBucket, newS3Stores, s3Env, s3Server } from '../support/stores/s3-stores.ts'
import { manifestOf } from '../support/stores/stored-bytes.ts'
import {
  buildArgs,
  contentOf,
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

/** A book of two strategies. */
let book: string
/** A folder and a bucket in which it was published, and then built again. */
let files: Stores
let bucket: Required<Stores>
/** A bucket in which it was published once; what is refused leaves it as it is. */
let refusing: Required<Stores>
let proxy: S3Proxy
/** Reads the bucket through the proxy; it was there before the build. */
let service: ServingProcess

beforeAll(async () => {
  book = await writeFleetBook(join(await lastingFolder(), 'book'), 2)
  files = await withStart(newStores())
  await publishBook(book, files)
  bucket = await copyToBucket(files)
  refusing = await copyToBucket(files)
  proxy = await startS3Proxy()
  service = await startServing({ ...bucket, s3: proxy.access })
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  expect(await run(buildArgs(files, { book }), { now: Date.now })).toMatchObject({ code: 0 })
  expect(await buildInto(bucket)).toMatchObject({ code: 0 })
})

const inBucket = (args: readonly string[], { s3 } = bucket) => run(args, { env: s3Env(s3), now: Date.now })
const buildInto = (stores: Required<Stores>) => inBucket(buildArgs(stores, { book }), stores)

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

function expectRefusal(exit: Awaited<ReturnType<typeof run>>, reason: RegExp): void {
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toMatch(reason)
  expect(exit.err).not.toMatch(/^ +at /m)
}

test('a build is refused with a wrong secret, which is never printed', async () => {
  const server = await s3Server()
  const before = await contentOf(refusing)
  const s3 = { ...server, credentials: { ...server.credentials, secretAccessKey: 'HIDDEN' } }
  const exit = await buildInto({ ...refusing, s3 })
  expectRefusal(
    exit,
    /^highwater: cannot \w+ s3:\S+: the service refuses \(SignatureDoesNotMatch\): check AWS_/m,
  )
  expect(exit.err).not.toContain('HIDDEN')
  expect(await contentOf(refusing)).toEqual(before)
})

test('a build is refused with a bucket that is not there, and before anything public is written if that is the private one', async () => {
  const s3 = await s3Server()
  const nowhere = { url: 's3://not-there/store', privateUrl: 's3://not-there/store.private', s3 }
  const reason = /there is no bucket 'not-there': create it, or correct the name in the URL/
  expectRefusal(await buildInto(nowhere), reason)
  const halfThere = { ...(await newS3Stores()), privateUrl: 's3://not-there/private' }
  expectRefusal(await buildInto(halfThere), reason)
  expect(await versionContentOf(halfThere)).toEqual({})
})

const NEXT_FOLDER = '/v1/snapshots/20250225T001500Z/'

const isOf = (method: string, part: string) => (asked: Asked) =>
  asked.method === method && asked.path.includes(part)

/** Each is met later in a build than the one before it. */
const LOST = casesOf<[string, Fault, (asked: Asked) => boolean, RegExp]>`
the service answers 500 to an artifact -> error 500 -> ${isOf('PUT', `${NEXT_FOLDER}summary.json`)} -> ${/cannot create s3:\S+summary\.json\S*: the service answered 500 \(InternalError\) in 7 tries: run the command/}
the pointer log cannot be appended to -> error 500 -> ${isOf('PUT', '/v1/pointer/0000000002.json')} -> ${/cannot create s3:\S+\/v1\/pointer\/0000000002\.json: the service answered 500/}`

test('a build that loses its bucket at any step fails with the reason, the same command goes on from there, and it finishes', async () => {
  const before = await contentOf(refusing)
  const own = await startS3Proxy()
  const build = () => buildInto({ ...refusing, s3: own.access })
  for (const [what, fault, isHit, reason] of LOST) {
    own.meddle(asked => (isHit(asked) ? fault : null))
    expectRefusal(await build(), reason)
    expect(await pointerOf(refusing), what).toBe(TINY_VERSION)
  }
  expect(await faultsOf(refusing)).toEqual([])
  expect(await contentOf(refusing)).toMatchObject(before)
  own.meddle(() => null)
  expect(await build()).toMatchObject({ code: 0 })
  expect(await pointerOf(refusing)).toBe(NEXT_VERSION)
  expect(await faultsOf(refusing)).toEqual([])
})
