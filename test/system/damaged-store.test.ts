// A store that was altered behind our back: each command that would go on from it refuses with a sentence, exit code 1,
// and writes nothing.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { sha256 } from '#storage/digest.ts'
import { newPrivateKeyPem } from '#storage/signature.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { damage } from '../support/stores/store-doubles.ts'
import { buildArgs, contentOf, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const NOW_MS = Date.parse('2025-02-26T00:00:00Z')
const LATER_VERSION = '2025-02-26T00:00:00Z'

/** Stores with two versions, the second of them signed. */
let published: Stores
let keyFile: string

beforeAll(async () => {
  published = await copyStores(inject('tinyStore'))
  keyFile = join(await lastingFolder(), 'signing.pem')
  await writeFile(keyFile, newPrivateKeyPem())
  expect(await inWorld(buildArgs(published))).toMatchObject({ code: 0 })
})

const inWorld = (args: readonly string[], nowMs = NOW_MS) =>
  run(args, { env: { SIGNING_KEY_FILE: keyFile }, now: () => nowMs })

const COMMANDS = {
  build: stores => buildArgs(stores, { version: LATER_VERSION }),
  rollback: stores => ['rollback', TINY_VERSION, ...storeArgs(stores)],
  refresh: stores => ['refresh', ...storeArgs(stores)],
  prune: stores => ['prune', '--yes', '--keep-days', '0', ...storeArgs(stores)],
  versions: stores => ['versions', ...storeArgs(stores)],
  diff: stores => ['diff', TINY_VERSION, NEXT_VERSION, ...storeArgs(stores)],
} as const satisfies Record<string, (stores: Stores) => readonly string[]>

type Name = keyof typeof COMMANDS

const storeArgs = ({ url, privateUrl }: Stores) => ['--store', url, '--private-store', privateUrl]

const ALL = ['build', 'rollback', 'refresh', 'prune', 'versions', 'diff'] as const

type Harm = (folder: string, privateFolder: string) => Promise<void>

/** Other bytes in a file of the public folder, or of the private one. */
const altered =
  (key: string, change = damage as (bytes: Uint8Array) => Uint8Array, isPrivate = false): Harm =>
  async (folder, privateFolder) => {
    const path = join(isPrivate ? privateFolder : folder, key)
    await writeFile(path, change(await readFile(path)))
  }

const headSignature = async (folder: string): Promise<string> =>
  join(folder, signatureKey(sha256(await readFile(join(folder, pointerKey(2))))))

const DAMAGES: readonly [string, Harm, readonly Name[], RegExp][] = [
  [
    'an older entry of the log that was rewritten',
    altered(pointerKey(1), bytes => Buffer.from(Buffer.from(bytes).toString().replace('Z"', 'Z" '))),
    ALL,
    /the pointer log of \S+ is broken at entry 2: .*restore v1\/pointer\/ from a copy/,
  ],
  [
    'an older entry of the log that is lost',
    folder => rm(join(folder, pointerKey(1))),
    ALL,
    /the pointer log of \S+ is broken at entry 1: .*restore v1\/pointer\/ from a copy/,
  ],
  [
    'a newest entry that is no JSON',
    altered(pointerKey(2), () => Buffer.from('{')),
    ALL,
    /\/v1\/pointer\/0000000002\.json is not a pointer entry: restore it from a copy/,
  ],
  [
    'a newest entry whose signature is wrong',
    async folder => {
      const path = await headSignature(folder)
      await writeFile(path, damage(await readFile(path)))
    },
    ['build', 'rollback', 'refresh'],
    /0000000002\.json \(publish \S+\) has a signature that matches none of the published keys: .*highwater refresh/,
  ],
  [
    'a list of public keys that is no JSON',
    altered(KEYS_KEY, () => Buffer.from('{"keys": [')),
    ['build', 'rollback', 'refresh'],
    /\/v1\/keys\.json is no list of Ed25519 public keys with their ids: restore it from a copy/,
  ],
  [
    'a public key under another id',
    altered(KEYS_KEY, bytes =>
      Buffer.from(
        Buffer.from(bytes)
          .toString()
          .replace(/"id": ".{4}/, '"id": "0000'),
      ),
    ),
    ['build', 'rollback', 'refresh'],
    /\/v1\/keys\.json is no list of Ed25519 public keys with their ids: restore it from a copy/,
  ],
  [
    'a lock whose record is no JSON',
    async folder => {
      const [name] = await readdir(join(folder, 'lock/build'))
      await writeFile(join(folder, 'lock/build', name!), '{"pid": 4')
    },
    ['build', 'rollback', 'refresh', 'prune'],
    /\/lock\/build\/\d+ is not a lock record, .*: make sure that no other command works on the store, remove the object/,
  ],
  [
    'a manifest of the served version with other bytes',
    altered('v1/snapshots/20250225T001500Z/manifest.json'),
    ['build', 'refresh', 'diff'],
    /20250225T001500Z\/manifest\.json is not the one that was published; restore it from a copy/,
  ],
  [
    'a manifest of an older version with other bytes',
    altered('v1/snapshots/20250224T001500Z/manifest.json'),
    ['rollback', 'diff'],
    /20250224T001500Z\/manifest\.json is not the one that was published; restore it from a copy/,
  ],
]

/** Runs commands, each of which must be refused with this reason; none of them writes anything. */
async function expectRefusals(
  stores: Stores,
  commands: readonly (readonly string[])[],
  reason: RegExp,
  nowMs = NOW_MS,
): Promise<void> {
  const before = await contentOf(stores)
  for (const args of commands) {
    const exit = await inWorld(args, nowMs)
    expect(exit, args[0]).toMatchObject({ code: 1, out: '' })
    expect(exit.err, args[0]).toMatch(reason)
    expect(exit.err).not.toMatch(/^ +at /m)
  }
  expect(await contentOf(stores)).toEqual(before)
}

test.each(DAMAGES)(
  'a store with %s is refused by every command that would go on from it, and nothing is written',
  async (_what, harm, refusing, reason) => {
    const stores = await copyStores(published)
    await harm(fileURLToPath(stores.url), fileURLToPath(stores.privateUrl))
    const commands = refusing.map(name => COMMANDS[name](stores))
    await expectRefusals(stores, commands, reason)
  },
)

test('a newest entry that was rewritten is refused by a build, which writes nothing', async () => {
  const stores = await copyStores(published)
  expect(await inWorld(COMMANDS.refresh(stores))).toMatchObject({ code: 0 })
  const path = join(fileURLToPath(stores.url), pointerKey(3))
  await writeFile(path, (await readFile(path, 'utf8')).replace('"refresh"', '"rollback"'))
  await expectRefusals(
    stores,
    [COMMANDS.build(stores)],
    /0000000003\.json \(rollback 2025-02-25T00:15:00Z\) has no signature, but older entries have one/,
  )
})

test('a clock that was set back before the newest entry is refused by every command that moves the pointer, and nothing is written', async () => {
  await expectRefusals(
    published,
    (['build', 'rollback', 'refresh'] as const).map(name => COMMANDS[name](published)),
    /the clock of this machine is at 2025-02-25T23:00:00Z, and the newest pointer entry, \S+0000000002\.json, is from 2025-02-26T00:00:00Z: nothing was published; set the clock/,
    NOW_MS - 3_600_000,
  )
})

test('a clock at the same second as the newest entry is accepted', async () => {
  expect(await inWorld(COMMANDS.refresh(await copyStores(published)))).toMatchObject({ code: 0 })
})

test('a build for a version of the far future is refused, and writes nothing', async () => {
  await expectRefusals(
    published,
    [buildArgs(published, { version: '2025-02-27T00:00:01Z' })],
    /--version: 2025-02-27T00:00:01Z is more than 24 hours ahead of the clock/,
  )
})
