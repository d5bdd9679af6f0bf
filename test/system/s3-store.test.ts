// The object store in a bucket, against a real server, and against one that fails: short failures are retried, lasting ones are
// reported with what to do about them.
import { HeadObjectCommand } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { expect, test } from 'vitest'
import { sha256 } from '#storage/digest.ts'
import { assertCreatesOnce, type ObjectStore, StoreError, writeOnce } from '#storage/object-store.ts'
import type { S3Access } from '#storage/s3-access.ts'
import { createS3Store, MOST_SOCKETS } from '#storage/s3-store.ts'
import { atFirst, type Fault, startS3Proxy } from '../support/servers/s3-proxy.ts'
import { forbidWriting, newBucket, s3Client, s3Server } from '../support/stores/s3-stores.ts'
import { testConformance } from '../support/stores/store-conformance.ts'

const HEADERS = { content_type: 'text/plain' }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const openNew = async (): Promise<ObjectStore> =>
  createS3Store(`s3://${await newBucket()}/some/prefix`, await s3Server())

testConformance('S3', openNew)

test('the S3 store keeps the media type that an HTTP origin needs, and the digest of the object', async () => {
  const Bucket = await newBucket()
  const store = createS3Store(`s3://${Bucket}/some/prefix`, await s3Server())
  const content_type = 'application/json; charset=utf-8'
  const cache_control = 'max-age=31536000, immutable'
  await store.create('a.json.br', bytes('{}'), { content_type, content_encoding: 'br', cache_control })
  await store.replace('b.json', bytes('[]'), { content_type })
  const client = await s3Client()
  const head = (key: string) => client.send(new HeadObjectCommand({ Bucket, Key: `some/prefix/${key}` }))
  expect(await head('a.json.br')).toMatchObject({
    ContentType: content_type,
    ContentEncoding: 'br',
    CacheControl: cache_control,
    ContentLength: 2,
    Metadata: { sha256: sha256(bytes('{}')) },
  })
  const plain = await head('b.json')
  expect(plain).toMatchObject({ ContentType: content_type, Metadata: { sha256: sha256(bytes('[]')) } })
  expect([plain.ContentEncoding, plain.CacheControl]).toEqual([undefined, undefined])
})

test('the S3 store lists more keys than the service gives at a time, each once and in order', async () => {
  const store = await openNew()
  const keys = Array.from({ length: 1_001 }, (_, i) => `many/${String(i).padStart(5, '0')}`)
  await pMap(keys, key => store.create(key, bytes(key), HEADERS), { concurrency: MOST_SOCKETS })
  await store.create('many.more', bytes('x'), HEADERS)
  expect(await store.list('many/')).toEqual(keys)
})

test('the S3 store of one of two prefixes in a bucket sees its own keys, also where one name begins the other', async () => {
  const [bucket, server] = [await newBucket(), await s3Server()]
  const [open, hidden, whole] = ['/store', '/store.private', ''].map(path =>
    createS3Store(`s3://${bucket}${path}`, server),
  )
  await open!.create('k', bytes('open'), HEADERS)
  await hidden!.create('k', bytes('hidden'), HEADERS)
  expect(await open!.list('')).toEqual(['k'])
  expect(await hidden!.read('k')).toEqual(bytes('hidden'))
  expect(await whole!.list('')).toEqual(['store.private/k', 'store/k'])
})

test('the S3 store carries an object of many megabytes', async () => {
  const store = await openNew()
  const large = new Uint8Array(20 << 20).map((_, i) => i % 251)
  await store.create('large', large, HEADERS)
  expect(sha256((await store.read('large'))!)).toBe(sha256(large))
})

/** So long that a busy service is not taken for a silent one. */
const PATIENCE = { tries: 3, connectMs: 60_000, silenceMs: 60_000 }

/** How long a service that is silent on purpose is waited for. */
const SILENCE_MS = 500

/** So many that one of them is answered in that time, on the busiest machine. */
const TRIES_OF_SILENCE = 20

const isSilent = (fault: Fault): boolean => fault === 'silence' || fault === 'body stalled'

/** A store through a proxy, and the same past it. */
async function newSetting(patience = PATIENCE) {
  const proxy = await startS3Proxy()
  const url = `s3://${await newBucket()}/store`
  const store = createS3Store(url, proxy.access, patience)
  return { proxy, url, store, direct: createS3Store(url, await s3Server()) }
}

/** For a service that does this all the time. */
const patienceFor = (fault: Fault) => (isSilent(fault) ? { ...PATIENCE, silenceMs: SILENCE_MS } : PATIENCE)

/** For a service that does it twice. */
const patienceForTwo = (fault: Fault) =>
  isSilent(fault) ? { ...patienceFor(fault), tries: TRIES_OF_SILENCE } : PATIENCE

test('a create whose answer was lost is found to have been done, also if looking fails at first', async () => {
  const { proxy, store, direct } = await newSetting()
  proxy.meddle(atFirst(1, () => 'answer lost'))
  expect(await store.create('k', bytes('ours'), HEADERS)).toBe(true)
  expect(proxy.asked().map(({ method }) => method)).toEqual(['PUT', 'PUT', 'GET'])
  expect(await direct.read('k')).toEqual(bytes('ours'))
  const [put, get] = [atFirst(1, () => 'answer lost'), atFirst(2, () => 'body altered')]
  proxy.meddle(asked => (asked.method === 'PUT' ? put(asked) : get(asked)))
  expect(await store.create('n', bytes('ours'), HEADERS)).toBe(true)
})

test('a create whose answer was lost and that found the key taken does not take it over', async () => {
  const { proxy, store, direct } = await newSetting()
  await direct.create('k', bytes('theirs'), HEADERS)
  proxy.meddle(atFirst(1, () => 'answer lost'))
  expect(await store.create('k', bytes('ours'), HEADERS)).toBe(false)
  expect(await direct.read('k')).toEqual(bytes('theirs'))
})

test('a create whose answer is lost every time is an error, and the same command finishes later', async () => {
  const { proxy, store, direct } = await newSetting()
  proxy.meddle(({ method }) => (method === 'PUT' ? 'answer lost' : null))
  // The first try wrote it and its answer was lost, as were those that found it there.
  await expect(store.create('k', bytes('ours'), HEADERS)).rejects.toThrow(
    /^cannot create s3:.*\/k: the connection broke off \(ECONNRESET\) in 3 tries: run the command again/,
  )
  proxy.meddle(() => null)
  await writeOnce(store, 'k', bytes('ours'), HEADERS)
  expect(await direct.read('k')).toEqual(bytes('ours'))
})

test.each([
  ['no answer', -1, ['PUT', 'PUT']],
  ['the first answer', 0, ['PUT', 'PUT', 'GET', 'PUT']],
  ['the second answer', 1, ['PUT', 'PUT', 'PUT', 'GET']],
])(
  'a bucket is found to create once in two requests and later in one, also if %s is lost',
  async (_, nth, expected) => {
    const { proxy, store } = await newSetting()
    let count = 0
    proxy.meddle(() => (count++ === nth ? 'answer lost' : null))
    await assertCreatesOnce(store)
    expect(proxy.asked().map(({ method }) => method)).toEqual(expected)
    proxy.meddle(() => null)
    await assertCreatesOnce(store)
    expect(proxy.asked()).toHaveLength(1)
  },
)

const READ_FAULTS: readonly [Fault, RegExp][] = [
  ['answer lost', /the connection broke off \(ECONNRESET\) in 3 tries: run the command again/],
  ['error 500', /the service answered 500 \(InternalError\) in 3 tries: run the command again/],
  ['silence', /the service did not answer in time in 3 tries: run the command again/],
  ['body cut', /the connection broke off in the middle of the object.*: run the command again/],
  ['body stalled', /the connection broke off in the middle of the object.*: run the command again/],
  ['body truncated', /the service returned other bytes than were written: restore the object from a copy/],
  ['body altered', /the service returned other bytes than were written: restore the object from a copy/],
]

const isReadAlone = (fault: Fault): boolean => fault.startsWith('body')

test.each(READ_FAULTS)(
  'a service with %j for two tries is read to the end, and written to, listed and cleared if it does that to more than bodies',
  async fault => {
    const { proxy, store, direct } = await newSetting(patienceForTwo(fault))
    const bridged = async <T>(run: () => Promise<T>): Promise<T> => {
      proxy.meddle(atFirst(2, () => fault))
      const result = await run()
      expect(proxy.asked().length).toBeGreaterThanOrEqual(3)
      return result
    }
    await direct.create('k', bytes('a text of some length'), HEADERS)
    expect(await bridged(() => store.read('k'))).toEqual(bytes('a text of some length'))
    if (!isSilent(fault)) expect(proxy.asked()).toHaveLength(3)
    if (isReadAlone(fault)) return
    expect(await bridged(() => store.create('n', bytes('one'), HEADERS))).toBe(true)
    await bridged(() => store.replace('n', bytes('two'), HEADERS))
    expect(await direct.read('n')).toEqual(bytes('two'))
    expect(await bridged(() => store.list(''))).toEqual(['k', 'n'])
    await bridged(() => store.remove('n'))
    expect(await direct.list('')).toEqual(['k'])
  },
)

const METHODS = ['read', 'has', 'create', 'replace', 'list', 'remove'] as const

const call = (store: ObjectStore, method: (typeof METHODS)[number]): Promise<unknown> =>
  method === 'create' || method === 'replace' ? store[method]('k', bytes('x'), HEADERS) : store[method]('k')

const errorOf = (done: Promise<unknown>): Promise<unknown> => done.catch((thrown: unknown) => thrown)

test.each(READ_FAULTS)(
  'a service with %j without end is an error with what to do about it of each method that it concerns, and never a shorter or another object',
  async (fault, message) => {
    const { proxy, store, direct, url } = await newSetting(patienceFor(fault))
    await direct.create('k', bytes('a text of some length'), HEADERS)
    proxy.meddle(() => fault)
    const methods = isReadAlone(fault) ? ['read' as const] : METHODS.filter(method => method !== 'has')
    const errors = await Promise.all(methods.map(method => errorOf(call(store, method))))
    for (const [i, error] of errors.entries()) {
      expect(error).toBeInstanceOf(StoreError)
      expect(String(error)).toMatch(message)
      expect(String(error)).toContain(`cannot ${methods[i]} ${url}/k`)
    }
  },
)

const RIGHTS =
  /the service refuses \(\w+\): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they have the right/

const withKey = async (change: Partial<NonNullable<S3Access['credentials']>>): Promise<S3Access> => {
  const server = await s3Server()
  return { ...server, credentials: { ...server.credentials, ...change } }
}

test.each<[string, () => Promise<S3Access>, RegExp, string?]>([
  ['a wrong secret', () => withKey({ secretAccessKey: 'HIDDEN' }), RIGHTS],
  ['an unknown key', () => withKey({ accessKeyId: 'stranger' }), RIGHTS],
  [
    'an address without a listener',
    async () => ({ ...(await s3Server()), endpoint: 'http://127.0.0.1:1' }),
    /the service cannot be reached \(ECONNREFUSED\) in 3 tries: check AWS_ENDPOINT_URL_S3 and the network/,
  ],
  [
    'a bucket that is not there',
    s3Server,
    /there is no bucket 'not-there': create it, or correct the name in the URL/,
    'not-there',
  ],
])('every method of a store reports %s', async (_what, access, expected, bucket) => {
  const store = createS3Store(`s3://${bucket ?? (await newBucket())}/store`, await access(), PATIENCE)
  for (const method of METHODS) {
    const error = await errorOf(call(store, method))
    expect(error).toBeInstanceOf(StoreError)
    expect(String(error)).toMatch(expected)
    expect(String(error)).not.toContain('HIDDEN')
  }
})

test('every method that writes reports a bucket that may only be read, which is read all the same', async () => {
  const bucket = await newBucket()
  const store = createS3Store(`s3://${bucket}/store`, await s3Server(), PATIENCE)
  await store.create('k', bytes('x'), HEADERS)
  await forbidWriting(bucket)
  expect(await store.read('k')).toEqual(bytes('x'))
  await expect(store.create('new', bytes('x'), HEADERS)).rejects.toThrow(RIGHTS)
  await expect(store.replace('k', bytes('y'), HEADERS)).rejects.toThrow(RIGHTS)
  await expect(store.remove('k')).rejects.toThrow(RIGHTS)
  expect(await store.list('')).toEqual(['k'])
})
