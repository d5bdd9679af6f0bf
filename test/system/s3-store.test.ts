// The object store in a bucket, against a real server.
import { HeadObjectCommand } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { expect, test } from 'vitest'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { MOST_SOCKETS } from '#storage/s3-access.ts'
import { createS3Store } from '#storage/s3-store.ts'
import { newBucket, s3Client, s3Server } from '../support/stores/s3-stores.ts'
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
  const keys = Array.from({ length: 2_001 }, (_, i) => `many/${String(i).padStart(5, '0')}`)
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
