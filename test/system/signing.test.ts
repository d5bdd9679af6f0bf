// A command that moves the pointer of a signed log refuses what was not signed by a known key, unless the
// operator says otherwise.
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { publicKeys } from '#core/contract/public-keys.ts'
import { acquireLock } from '#storage/lock.ts'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { newPrivateKeyPem } from '#storage/signature.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { damage } from '../support/stores/store-doubles.ts'
import { buildArgs, contentOf, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const NOW_MS = Date.parse('2025-02-26T00:00:00Z')
const LATER_VERSION = toIsoInstant(NOW_MS)

/** Stores with two versions, the second of them signed. */
let published: Stores
let keyFile: string

beforeAll(async () => {
  published = await copyStores(inject('tinyStore'))
  keyFile = await newKeyFile()
  expect(await inWorld(buildArgs(published))).toMatchObject({ code: 0 })
})

async function newKeyFile(): Promise<string> {
  const path = join(await lastingFolder(), 'signing.pem')
  await writeFile(path, newPrivateKeyPem())
  return path
}

/** Null runs without a key. */
const inWorld = (args: readonly string[], key: string | null = keyFile) =>
  run(args, { env: key === null ? {} : { SIGNING_KEY_FILE: key }, now: () => NOW_MS })

const storeArgs = ({ url, privateUrl }: Stores) => ['--store', url, '--private-store', privateUrl]

const MOVES = {
  build: stores => buildArgs(stores, { version: LATER_VERSION }),
  rollback: stores => ['rollback', TINY_VERSION, ...storeArgs(stores)],
  refresh: stores => ['refresh', ...storeArgs(stores)],
} as const satisfies Record<string, (stores: Stores) => readonly string[]>

const NAMES = ['build', 'rollback', 'refresh'] as const

async function expectRefusal(stores: Stores, args: readonly string[], key: string | null, why: RegExp) {
  const before = await contentOf(stores)
  const exit = await inWorld(args, key)
  expect(exit).toMatchObject({ code: 1, out: '' })
  expect(exit.err).toMatch(why)
  expect(await contentOf(stores)).toEqual(before)
}

test('each command that moves the pointer is refused without a key after a signed entry, unless --allow-unsigned is given', async () => {
  for (const name of NAMES) {
    const stores = await copyStores(published)
    await expectRefusal(
      stores,
      MOVES[name](stores),
      null,
      /0000000002\.json is signed, and SIGNING_KEY_FILE is not set: nothing was published; set it .*--allow-unsigned/,
    )
    expect(await inWorld([...MOVES[name](stores), '--allow-unsigned'], null), name).toMatchObject({ code: 0 })
  }
})

test('an operator who never signed needs no option to refresh', async () => {
  const stores = await copyStores(inject('tinyStore'))
  expect(await inWorld(MOVES.refresh(stores), null)).toMatchObject({ code: 0 })
})

const HARMS: readonly [string, (stores: Stores) => Promise<void>][] = [
  [
    'has no signature, but older entries have one',
    async stores => {
      expect(await inWorld([...MOVES.refresh(stores), '--allow-unsigned'], null)).toMatchObject({ code: 0 })
    },
  ],
  [
    'has a signature that matches none of the published keys',
    async stores => {
      const store = await openStore(stores.url)
      const key = signatureKey((await readLog(store)).at(-1)!.sha256)
      await store.replace(key, damage((await store.read(key))!), { content_type: 'application/octet-stream' })
    },
  ],
]

test.each(HARMS)(
  'a newest entry that %s is refused by all that move the pointer, until it is confirmed with --vouch-for-head',
  async (what, harm) => {
    const stores = await copyStores(published)
    await harm(stores)
    const why = new RegExp(`\\((?:publish|refresh) ${NEXT_VERSION}\\) ${what}: .*--vouch-for-head`)
    for (const name of NAMES) await expectRefusal(stores, MOVES[name](stores), keyFile, why)

    expect(await inWorld([...MOVES.refresh(stores), '--vouch-for-head'])).toMatchObject({ code: 0 })
    expect(await inWorld(MOVES.rollback(stores))).toMatchObject({ code: 0 })
  },
)

test('a newest entry that was forged is not rolled back from: that would sign what the forger wrote', async () => {
  const stores = await copyStores(published)
  expect(await inWorld(MOVES.refresh(stores))).toMatchObject({ code: 0 })
  const store = await openStore(stores.url)
  const written = new TextDecoder().decode((await store.read(pointerKey(3)))!)
  const forged = new TextEncoder().encode(written.replace('"refresh"', '"rollback"'))
  await store.replace(pointerKey(3), forged, { content_type: 'application/json' })
  await expectRefusal(stores, MOVES.rollback(stores), keyFile, /3\.json \(rollback \S+\) has no signature/)
})

test.each(NAMES)(
  'a key that is not published where others are is refused by %s, unless --new-key is given; then it stands beside the others',
  async name => {
    const stores = await copyStores(published)
    const newer = await newKeyFile()
    await expectRefusal(
      stores,
      MOVES[name](stores),
      newer,
      /the key [0-9a-f]{16} of SIGNING_KEY_FILE is not one of those in .*keys\.json \([0-9a-f]{16}\): .*--new-key/,
    )
    const { code, err } = await inWorld([...MOVES[name](stores), '--new-key'], newer)
    expect({ code, problems: err.split('\n').filter(line => !/^(note: .*)?$/.test(line)) }).toEqual({
      code: 0,
      problems: [],
    })
    const bytes = (await (await openStore(stores.url)).read(KEYS_KEY))!
    expect(publicKeys.parse(JSON.parse(new TextDecoder().decode(bytes))).keys).toHaveLength(2)
  },
)

test('refresh waits for the holder of the lock, so that the list of keys has one writer', async () => {
  const stores = await copyStores(published)
  const holder = { pid: process.pid, host: hostname(), started: LATER_VERSION }
  const lock = await acquireLock(await openStore(stores.url), 'build', {
    holder,
    now: () => NOW_MS,
    isAlive: () => true,
  })
  await expectRefusal(stores, MOVES.refresh(stores), keyFile, /another build of \S+ is running: process \d+/)
  await lock.release()
  expect(await inWorld(MOVES.refresh(stores))).toMatchObject({ code: 0 })
})
