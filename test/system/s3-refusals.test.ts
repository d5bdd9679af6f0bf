// A build that cannot reach its bucket, may not write to it, or loses it on the way: exit code 1 with the reason, nothing
// half published, and the served version untouched.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { S3Access } from '#storage/s3-access.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { run } from '../cli/made-up.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import { publishBook, type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { type Asked, type Fault, startS3Proxy } from '../support/servers/s3-proxy.ts'
import { newS3Stores, s3Env, s3Server } from '../support/stores/s3-stores.ts'
import {
  buildArgs,
  contentOf,
  faultsOf,
  NEXT_VERSION,
  pointerOf,
  versionContentOf,
} from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const buildInto = (stores: Stores, access: S3Access) =>
  run(buildArgs(stores, { book }), { env: s3Env(access), now: () => Date.now() })

function expectRefusal(exit: Awaited<ReturnType<typeof run>>, reason: RegExp): void {
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toMatch(reason)
  expect(exit.err).not.toMatch(/^ +at /m)
}

/** A book of one strategy, and a bucket in which it was published; what is refused leaves it as it is. */
let book: string
let stores: Required<Stores>
let before: Awaited<ReturnType<typeof contentOf>>

beforeAll(async () => {
  book = await writeFleetBook(join(await lastingFolder(), 'book'), 1)
  stores = await newS3Stores()
  await publishBook(book, stores)
  before = await contentOf(stores)
})

test('a build is refused with a wrong secret, which is never printed', async () => {
  const server = await s3Server()
  const wrong = { ...server, credentials: { ...server.credentials, secretAccessKey: 'HIDDEN' } }
  const exit = await buildInto(stores, wrong)
  expectRefusal(
    exit,
    /^highwater: cannot \w+ s3:\S+: the service refuses \(SignatureDoesNotMatch\): check AWS_/m,
  )
  expect(exit.err).not.toContain('HIDDEN')
  expect(await contentOf(stores)).toEqual(before)
})

test('a build is refused with a bucket that is not there, and before anything public is written if that is the private one', async () => {
  const nowhere = { url: 's3://not-there/store', privateUrl: 's3://not-there/store.private' }
  const reason = /there is no bucket 'not-there': create it, or correct the name in the URL/
  expectRefusal(await buildInto(nowhere, await s3Server()), reason)

  const halfThere = { ...(await newS3Stores()), privateUrl: 's3://not-there/private' }
  expectRefusal(await buildInto(halfThere, await s3Server()), /there is no bucket 'not-there'/)
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
  const proxy = await startS3Proxy()
  for (const [what, fault, isHit, reason] of LOST) {
    proxy.meddle(asked => (isHit(asked) ? fault : null))
    expectRefusal(await buildInto(stores, proxy.access), reason)
    expect(await pointerOf(stores), what).toBe(TINY_VERSION)
  }
  expect(await faultsOf(stores)).toEqual([])
  expect(await contentOf(stores)).toMatchObject(before)
  proxy.meddle(() => null)
  expect(await buildInto(stores, proxy.access)).toMatchObject({ code: 0 })
  expect(await pointerOf(stores)).toBe(NEXT_VERSION)
  expect(await faultsOf(stores)).toEqual([])
})
