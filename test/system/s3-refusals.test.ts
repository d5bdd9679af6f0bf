// A build that cannot reach its bucket, may not write to it, or loses it on the way: exit code 1 with the reason, nothing
// half published, and the served version untouched.
import { describe, expect, test } from 'vitest'
import type { S3Access } from '#storage/s3-access.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { type Asked, type Fault, startS3Proxy } from '../support/servers/s3-proxy.ts'
import { forbidWriting, newS3Stores, s3Env, s3Server, tinyS3Stores } from '../support/stores/s3-stores.ts'
import {
  buildArgs,
  contentOf,
  faultsOf,
  NEXT_VERSION,
  pointerOf,
  versionContentOf,
} from '../support/stores/stores.ts'

const buildInto = (stores: Stores, access: S3Access) =>
  run(buildArgs(stores), { env: s3Env(access), now: () => Date.now() })

function expectRefusal(exit: Awaited<ReturnType<typeof run>>, reason: RegExp): void {
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toMatch(reason)
  expect(exit.err).not.toMatch(/^ +at /m)
}

describe('a build is refused with', () => {
  test('a wrong secret, which is never printed', async () => {
    const server = await s3Server()
    const wrong = { ...server, credentials: { ...server.credentials, secretAccessKey: 'HIDDEN' } }
    const stores = await tinyS3Stores()
    const before = await contentOf(stores)
    const exit = await buildInto(stores, wrong)
    expectRefusal(
      exit,
      /^highwater: cannot \w+ s3:\S+: the service refuses \(SignatureDoesNotMatch\): check AWS_/m,
    )
    expect(exit.err).not.toContain('HIDDEN')
    expect(await contentOf(stores)).toEqual(before)
  })

  test('a bucket that is not there', async () => {
    const stores = { url: 's3://not-there/store', privateUrl: 's3://not-there/store.private' }
    const reason = /there is no bucket 'not-there': create it, or correct the name in the URL/
    expectRefusal(await buildInto(stores, await s3Server()), reason)
  })

  test('a private bucket that is not there, before anything public is written', async () => {
    const stores = { ...(await newS3Stores()), privateUrl: 's3://not-there/private' }
    expectRefusal(await buildInto(stores, await s3Server()), /there is no bucket 'not-there'/)
    expect(await versionContentOf(stores)).toEqual({})
  })

  test('a private store inside of the public one', async () => {
    const { url } = await newS3Stores()
    expectRefusal(await buildInto({ url, privateUrl: `${url}/private` }, await s3Server()), /overlap/)
  })

  test('a bucket that may only be read', async () => {
    const stores = await tinyS3Stores()
    const before = await contentOf(stores)
    await forbidWriting(new URL(stores.url).hostname)
    const reason = /cannot create s3:\S+\/lock\/build\/\d+: the service refuses \(AccessDenied\): check AWS_/
    expectRefusal(await buildInto(stores, await s3Server()), reason)
    expect(await contentOf(stores)).toEqual(before)
  })
})

const NEXT_FOLDER = '/v1/snapshots/20250225T001500Z/'

const isOf = (method: string, part: string) => (asked: Asked) =>
  asked.method === method && asked.path.includes(part)

const LOST: readonly [string, Fault, (asked: Asked) => boolean, RegExp][] = [
  [
    'whose service answers 500 to an artifact',
    'error 500',
    isOf('PUT', `${NEXT_FOLDER}summary.json`),
    /cannot create s3:\S+summary\.json\S*: the service answered 500 \(InternalError\) in 7 tries: run the command/,
  ],
  [
    'whose connection ends before the manifest is acknowledged',
    'answer lost',
    isOf('PUT', `${NEXT_FOLDER}manifest.json`),
    /cannot create s3:\S+manifest\.json: the connection broke off \(ECONNRESET\) in 7 tries: run the command/,
  ],
  [
    'that reads back an artifact cut short',
    'body cut',
    isOf('GET', `${NEXT_FOLDER}summary.json`),
    /cannot read s3:\S+summary\.json\S*: the connection broke off in the middle of the object/,
  ],
  [
    'that reads back an altered artifact',
    'body altered',
    isOf('GET', `${NEXT_FOLDER}summary.json`),
    /cannot read s3:\S+summary\.json\S*: the service returned other bytes than were written/,
  ],
  [
    'that cannot append to the pointer log',
    'error 500',
    isOf('PUT', '/v1/pointer/0000000002.json'),
    /cannot create s3:\S+\/v1\/pointer\/0000000002\.json: the service answered 500/,
  ],
]

test.each(LOST)(
  'a build %s fails with the reason, and the same command finishes',
  async (_what, fault, isHit, reason) => {
    const [proxy, stores] = [await startS3Proxy(), await tinyS3Stores()]
    const before = await versionContentOf(stores)
    proxy.meddle(asked => (isHit(asked) ? fault : null))
    expectRefusal(await buildInto(stores, proxy.access), reason)
    expect(await pointerOf(stores)).toBe(TINY_VERSION)
    expect(await faultsOf(stores)).toEqual([])
    expect(await versionContentOf(stores)).toMatchObject(before)

    proxy.meddle(() => null)
    expect(await buildInto(stores, proxy.access)).toMatchObject({ code: 0 })
    expect(await pointerOf(stores)).toBe(NEXT_VERSION)
    expect(await faultsOf(stores)).toEqual([])
  },
)
