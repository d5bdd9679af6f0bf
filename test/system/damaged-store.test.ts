// A store that was altered behind our back, or is not signed as before: each command that would go on from it refuses with a
// sentence, exit code 1, and writes nothing, unless the operator says otherwise where an operator may.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import { KEYS_KEY, publicKeys } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { sha256 } from '#storage/digest.ts'
import { acquireLock } from '#storage/lock.ts'
import { openStore } from '#storage/open-store.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { run } from '../cli/made-up.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import { publishBook, type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { newKeyFile } from '../support/kills/grounds.ts'
import { damage } from '../support/stores/store-doubles.ts'
import {
  buildArgs,
  contentOf,
  copyStores,
  NEXT_VERSION,
  newStores,
  storeArgs,
} from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const NOW_MS = Date.parse('2025-02-26T00:00:00Z')
const LATER_VERSION = '2025-02-26T00:00:00Z'

/** A book of one strategy, and stores with two versions of it, the second of them signed. */
let book: string
let published: Stores
let keyFile: string

beforeAll(async () => {
  book = await writeFleetBook(join(await lastingFolder(), 'book'), 1)
  published = await newStores()
  await publishBook(book, published)
  keyFile = await newKeyFile()
  expect(await inWorld(buildArgs(published, { book }))).toMatchObject({ code: 0 })
})

/** Runs a command, without a key if that is null. */
const inWorld = (args: readonly string[], { key = keyFile as string | null, nowMs = NOW_MS } = {}) =>
  run(args, { env: key === null ? {} : { SIGNING_KEY_FILE: key }, now: () => nowMs })

const COMMANDS = {
  build: stores => buildArgs(stores, { book, version: LATER_VERSION }),
  rollback: stores => ['rollback', TINY_VERSION, ...storeArgs(stores)],
  refresh: stores => ['refresh', ...storeArgs(stores)],
  prune: stores => ['prune', '--yes', '--keep-days', '0', ...storeArgs(stores)],
  versions: stores => ['versions', ...storeArgs(stores)],
  diff: stores => ['diff', TINY_VERSION, NEXT_VERSION, ...storeArgs(stores)],
} as const satisfies Record<string, (stores: Stores) => readonly string[]>

type Name = keyof typeof COMMANDS

const ALL = ['build', 'rollback', 'refresh', 'prune', 'versions', 'diff'] as const

/** Those that move the pointer. */
const MOVES = ALL.slice(0, 3)

type Harm = (folder: string) => Promise<void>

/** Other bytes in a file of the public store. */
const altered =
  (key: string, change: (bytes: Uint8Array) => Uint8Array = damage): Harm =>
  async folder => {
    const path = join(folder, key)
    await writeFile(path, change(await readFile(path)))
  }

const replaced = (what: string | RegExp, by: string) => (bytes: Uint8Array) =>
  Buffer.from(Buffer.from(bytes).toString().replace(what, by))

const spoilLock: Harm = async folder => {
  const [name = ''] = await readdir(join(folder, 'lock/build'))
  await writeFile(join(folder, 'lock/build', name), '{"pid": 4')
}

const DAMAGES = casesOf<[string, Harm, readonly Name[], RegExp]>`
an older entry of the log that was rewritten -> ${altered(pointerKey(1), replaced('Z"', 'Z" '))} -> ${ALL} -> ${/the pointer log of \S+ is broken at entry 2: .*restore v1\/pointer\/ from a copy/}
an older entry of the log that is lost -> ${(folder: string) => rm(join(folder, pointerKey(1)))} -> ${ALL} -> ${/the pointer log of \S+ is broken at entry 1: .*restore v1\/pointer\/ from a copy/}
a newest entry that is no JSON -> ${altered(pointerKey(2), () => Buffer.from('{'))} -> ${ALL} -> ${/\/v1\/pointer\/0000000002\.json is not a pointer entry: restore it from a copy/}
a list of public keys that is no JSON -> ${altered(KEYS_KEY, () => Buffer.from('{"keys": ['))} -> ${MOVES} -> ${/\/v1\/keys\.json is no list of Ed25519 public keys with their ids: restore it from a copy/}
a public key under another id -> ${altered(KEYS_KEY, replaced(/"id": ".{4}/, '"id": "0000'))} -> ${MOVES} -> ${/\/v1\/keys\.json is no list of Ed25519 public keys with their ids: restore it from a copy/}
a lock whose record is no JSON -> ${spoilLock} -> ${['build', 'rollback', 'refresh', 'prune']} -> ${/\/lock\/build\/\d+ is not a lock record, .*: make sure that no other command works on the store, remove the object/}
a manifest of the served version with other bytes -> ${altered('v1/snapshots/20250225T001500Z/manifest.json')} -> ${['build', 'refresh', 'diff']} -> ${/20250225T001500Z\/manifest\.json is not the one that was published; restore it from a copy/}
a manifest of an older version with other bytes -> ${altered('v1/snapshots/20250224T001500Z/manifest.json')} -> ${['rollback', 'diff']} -> ${/20250224T001500Z\/manifest\.json is not the one that was published; restore it from a copy/}`

/** Runs commands, each of which must be refused with this reason; none of them writes anything. */
async function expectRefusals(
  stores: Stores,
  commands: readonly (readonly string[])[],
  reason: RegExp,
  world: Parameters<typeof inWorld>[1] = {},
): Promise<void> {
  const before = await contentOf(stores)
  for (const args of commands) {
    const exit = await inWorld(args, world)
    expect(exit, args[0]).toMatchObject({ code: 1, out: '' })
    expect(exit.err, args[0]).toMatch(reason)
    expect(exit.err).not.toMatch(/^ +at /m)
  }
  expect(await contentOf(stores)).toEqual(before)
}

const callsOf = (names: readonly Name[], stores: Stores) => names.map(name => COMMANDS[name](stores))

test.each(DAMAGES)(
  'a store with %s is refused by every command that would go on from it, and nothing is written',
  async (_what, harm, refusing, reason) => {
    const stores = await copyStores(published)
    await harm(fileURLToPath(stores.url))
    await expectRefusals(stores, callsOf(refusing, stores), reason)
  },
)

test('a newest entry that was rewritten is not gone on from: that would sign what a forger wrote', async () => {
  const stores = await copyStores(published)
  expect(await inWorld(COMMANDS.refresh(stores))).toMatchObject({ code: 0 })
  const path = join(fileURLToPath(stores.url), pointerKey(3))
  await writeFile(path, (await readFile(path, 'utf8')).replace('"refresh"', '"rollback"'))
  await expectRefusals(
    stores,
    callsOf(['build', 'rollback'], stores),
    /0000000003\.json \(rollback 2025-02-25T00:15:00Z\) has no signature, but older entries have one/,
  )
})

test('a clock that was set back before the newest entry is refused by every command that moves the pointer, and nothing is written', async () => {
  await expectRefusals(
    published,
    callsOf(MOVES, published),
    /the clock of this machine is at 2025-02-25T23:00:00Z, and the newest pointer entry, \S+0000000002\.json, is from 2025-02-26T00:00:00Z: nothing was published; set the clock/,
    { nowMs: NOW_MS - 3_600_000 },
  )
})

test('a clock at the same second as the newest entry is accepted', async () => {
  expect(await inWorld(COMMANDS.refresh(await copyStores(published)))).toMatchObject({ code: 0 })
})

test('each command that moves the pointer is refused without a key after a signed entry, unless --allow-unsigned is given', async () => {
  for (const name of MOVES) {
    const stores = await copyStores(published)
    const call = COMMANDS[name](stores)
    await expectRefusals(
      stores,
      [call],
      /0000000002\.json is signed, and SIGNING_KEY_FILE is not set: nothing was published; set it .*--allow-unsigned/,
      { key: null },
    )
    expect(await inWorld([...call, '--allow-unsigned'], { key: null }), name).toMatchObject({ code: 0 })
  }
})

test('an operator who never signed needs no option to refresh', async () => {
  const stores = await copyStores(inject('tinyStore'))
  expect(await inWorld(COMMANDS.refresh(stores), { key: null })).toMatchObject({ code: 0 })
})

const HARMS: readonly [string, (stores: Stores) => Promise<void>][] = [
  [
    'has no signature, but older entries have one',
    async stores => {
      const unsigned = [...COMMANDS.refresh(stores), '--allow-unsigned']
      expect(await inWorld(unsigned, { key: null })).toMatchObject({ code: 0 })
    },
  ],
  [
    'has a signature that matches none of the published keys',
    async stores => {
      const folder = fileURLToPath(stores.url)
      const path = join(folder, signatureKey(sha256(await readFile(join(folder, pointerKey(2))))))
      await writeFile(path, damage(await readFile(path)))
    },
  ],
]

test.each(HARMS)(
  'a newest entry that %s is refused by all that move the pointer, until it is confirmed with --vouch-for-head',
  async (what, harm) => {
    const stores = await copyStores(published)
    await harm(stores)
    const why = new RegExp(`\\((?:publish|refresh) ${NEXT_VERSION}\\) ${what}: .*--vouch-for-head`)
    await expectRefusals(stores, callsOf(MOVES, stores), why)

    expect(await inWorld([...COMMANDS.refresh(stores), '--vouch-for-head'])).toMatchObject({ code: 0 })
    expect(await inWorld(COMMANDS.rollback(stores))).toMatchObject({ code: 0 })
  },
)

test.each(MOVES)(
  'a key that is not published where others are is refused by %s, unless --new-key is given; then it stands beside the others',
  async name => {
    const stores = await copyStores(published)
    const newer = await newKeyFile()
    await expectRefusals(
      stores,
      callsOf([name], stores),
      /the key [0-9a-f]{16} of SIGNING_KEY_FILE is not one of those in .*keys\.json \([0-9a-f]{16}\): .*--new-key/,
      { key: newer },
    )
    const { code, err } = await inWorld([...COMMANDS[name](stores), '--new-key'], { key: newer })
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
  await expectRefusals(stores, callsOf(['refresh'], stores), /another build of \S+ is running: process \d+/)
  await lock.release()
  expect(await inWorld(COMMANDS.refresh(stores))).toMatchObject({ code: 0 })
})
