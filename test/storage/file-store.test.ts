import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { textForLog, withRemedy } from '#storage/error-code.ts'
import { createFileStore } from '#storage/file-store.ts'
import { beginBatch, placeFolder } from '#storage/folder-batch.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { fileTimeMs, removeUnfinished } from '#storage/placing.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { testConformance } from '#test/support/stores/store-conformance.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const HEADERS = { content_type: 'text/plain' }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

let folder: string
let store: ObjectStore

beforeEach(async () => {
  folder = await temporaryFolder()
  store = createFileStore(folder)
})

testConformance('memory', () => createMemoryStore())
testConformance('file', () => store)

test('the file store leaves no unfinished file behind, and lists none', async () => {
  await store.create('a', bytes('x'), HEADERS)
  await store.create('a', bytes('x'), HEADERS)
  await store.replace('a', bytes('y'), HEADERS)
  expect(await readdir(join(folder, '.unfinished'))).toEqual([])
  expect(await store.list('')).toEqual(['a'])
})

test('what a dead process of this host left is removed, what a living one or another host writes is not', async () => {
  const unfinished = join(folder, '.unfinished')
  await mkdir(unfinished)
  const names = [`${hostname()}~111~0~0`, `${hostname()}~222~0~0`, 'elsewhere~111~0~0']
  for (const name of names) await writeFile(join(unfinished, name), 'half')
  await removeUnfinished(folder, pid => pid === 222)
  expect((await readdir(unfinished)).sort()).toEqual([names[1], names[2]].sort())
})

test('an error of the file store names the action, the store, the key and the cause', async () => {
  await writeFile(join(folder, 'file'), 'not a folder')
  await expect(store.create('file/below', bytes('x'), HEADERS)).rejects.toThrow(
    /^cannot create file:\/\/.*\/file\/below: (ENOTDIR|EEXIST)/,
  )
})

test('the file store finds an object that exists without writing, even on a disk that takes no more', async () => {
  await store.create('a/b', bytes('x'), HEADERS)
  await rm(join(folder, '.unfinished'), { recursive: true })
  expect(await store.create('a/b', bytes('x'), HEADERS)).toBe(false)
  expect(await readdir(folder)).toEqual(['a'])
})

test('the file store leaves no empty folder where the last object of one was removed, and the others as they are', async () => {
  for (const key of ['a/b/c/1', 'a/b/c/2', 'a/3']) await store.create(key, bytes('x'), HEADERS)
  await store.remove('a/b/c/1')
  expect(await readdir(join(folder, 'a/b/c'))).toEqual(['2'])
  await store.remove('a/b/c/2')
  expect(await readdir(join(folder, 'a'))).toEqual(['3'])
  await store.remove('a/3')
  expect(await readdir(folder)).toEqual(['.unfinished'])
})

test('the file store writes and lists while neighbours are removed with their folders', async () => {
  await store.create('f/kept', bytes('x'), HEADERS)
  const rounds = Array.from({ length: 100 }, (_, i) => i)
  const writing = (async () => {
    for (const i of rounds) expect(await store.create(`f/a/${i}`, bytes('x'), HEADERS)).toBe(true)
  })()
  const removing = (async () => {
    for (const _ of rounds) {
      for (const key of await store.list('f/a')) await store.remove(key)
      expect(await store.list('')).toContain('f/kept')
    }
  })()
  await Promise.all([writing, removing])
})

test('the file store makes no folder before the first write', async () => {
  const store = createFileStore(join(folder, 'new'))
  expect([await store.read('a'), await store.list('')]).toEqual([null, []])
  await store.remove('a')
  expect(await readdir(folder)).toEqual([])
})

const URL = 'file:///srv/store'

const FREE_SPACE =
  /free space on the disk of file:\/\/\/srv\/store, as with `highwater prune`, and run the command again$/

const errorOf = (code: string) => Object.assign(new Error(`${code}: what the system says, write`), { code })

test.each([
  ['ENOSPC', FREE_SPACE],
  ['EDQUOT', FREE_SPACE],
  ['EFBIG', /larger than the limit of this process .* raise it .*, and run the command again$/],
  ['EACCES', /give the user that runs this the right to do that in file:\/\/\/srv\/store, and run/],
  ['EROFS', /the disk of file:\/\/\/srv\/store is read-only: mount it for writing/],
])('the error %s has the message of the system and the fix', (code, remedy) => {
  const cause = errorOf(code)
  const error = withRemedy(cause, URL)
  expect(error).toMatchObject({ message: expect.stringMatching(remedy), cause })
  expect(error).toMatchObject({ message: expect.stringContaining(`${code}: what the system says, write; `) })
  expect(textForLog(error)).not.toMatch(/\n +at /) // of a fault of ours a log has the stack
})

test('an error that nobody knows a remedy for stays what it is', () => {
  for (const thrown of [errorOf('EIO'), new Error('no code'), 'a text', null]) {
    expect(withRemedy(thrown, URL)).toBe(thrown)
  }
})

const OF_VERSION = 'v1/snapshots/20250224T001500Z'
const INSTANT_MS = Date.UTC(2025, 1, 24, 0, 15, 0)

test.each([
  [`${OF_VERSION}/strategies.json`, INSTANT_MS],
  [`${OF_VERSION}/strategies/ash/returns.daily.csv`, INSTANT_MS],
  [`${OF_VERSION}/strategies.json.gz`, INSTANT_MS + 1_000],
  [`${OF_VERSION}/strategies.json.br`, INSTANT_MS + 2_000],
  [`${OF_VERSION}/SHA256SUMS`, INSTANT_MS],
  ['v1/current.json', null],
  ['v1/pointer/0000000001.json', null],
  ['20250224T001500Z/snapshot.json', null],
  ['v1/snapshots/20250224T001500/strategies.json', null],
  ['v1/snapshots/20250230T001500Z/strategies.json', null],
])(
  'the file %s has the time of its version and its coding, which is %j, or none if it is of no version',
  (key, ms) => {
    expect(fileTimeMs(key)).toBe(ms)
  },
)

test('a file store gives a file the time of its version, and leaves it where the object is there already', async () => {
  const key = `${OF_VERSION}/strategies.json.br`
  for (const isNew of [true, false]) {
    expect(await store.create(key, new Uint8Array(9), { content_type: 'text/plain' })).toBe(isNew)
    expect((await stat(join(folder, key))).mtimeMs).toBe(INSTANT_MS + 2_000)
  }
})

const PREFIX = 'v1/snapshots/20260701T001500Z'
const FOLDER = `${PREFIX}/strategies/alder`
const OBJECTS = ['curve.json', 'curve.json.br'].map(name => ({
  key: `${FOLDER}/${name}`,
  bytes: new TextEncoder().encode(`the bytes of ${name}`),
}))

const begin = async () => (await beginBatch(store, PREFIX))!
const place = (objects: typeof OBJECTS) => placeFolder(store.url, FOLDER, objects)
const unfinished = () => readdir(join(folder, '.unfinished'))

test('a batch of folders writes each folder whole, with the times of its version, and leaves no mark after its end', async () => {
  const batch = await begin()
  expect(place(OBJECTS)).toBe(true)
  expect(await unfinished()).toHaveLength(1)
  await batch()
  expect(await unfinished()).toEqual([])
  expect(await store.list('')).toEqual(OBJECTS.map(({ key }) => key))
  for (const { key, bytes } of OBJECTS) expect(await store.read(key)).toEqual(Buffer.from(bytes))
  const times = await Promise.all(OBJECTS.map(async ({ key }) => (await stat(join(folder, key))).mtimeMs))
  expect(times).toEqual([Date.UTC(2026, 6, 1, 0, 15), Date.UTC(2026, 6, 1, 0, 15, 2)])
})

test('a batch of folders leaves a folder that exists as it is', async () => {
  await store.create(`${FOLDER}/curve.json`, new Uint8Array([1]), { content_type: 'application/json' })
  const batch = await begin()
  expect(place(OBJECTS)).toBe(false)
  await batch()
  expect(await store.list('')).toEqual([`${FOLDER}/curve.json`])
  expect(await unfinished()).toEqual([])
})

test('a batch of folders leaves none of a folder that cannot be written whole, and names it with the cause', async () => {
  const batch = await begin()
  const broken = [...OBJECTS, { key: `${FOLDER}/missing/curve.csv`, bytes: new Uint8Array(1) }]
  expect(() => place(broken)).toThrow(
    new RegExp(`^cannot create file://.*/${FOLDER}/missing/curve.csv: ENOENT`),
  )
  await batch()
  expect(await store.list('')).toEqual([])
  expect(await unfinished()).toEqual([])
})

test('a batch of folders keeps what a process that was killed left, because the machine still has it', async () => {
  await begin()
  place(OBJECTS)
  const batch = await begin()
  expect(place(OBJECTS)).toBe(false)
  await batch()
  expect(await unfinished()).toEqual([])
})

test('a batch of folders removes what was left before the machine lost power, because it may be torn, and nothing else', async () => {
  await begin()
  place(OBJECTS)
  const [mark] = await unfinished()
  await writeFile(join(folder, '.unfinished', mark!), 'the id of another boot')
  await mkdir(join(folder, 'v1/snapshots/20260630T001500Z'), { recursive: true })
  await writeFile(join(folder, 'v1/snapshots/20260630T001500Z/stays'), '')
  await writeFile(join(folder, OBJECTS[0]!.key), '') // torn
  const batch = await begin()
  expect(await store.list('')).toEqual(['v1/snapshots/20260630T001500Z/stays'])
  expect(place(OBJECTS)).toBe(true)
  await batch()
  expect(await readFile(join(folder, OBJECTS[0]!.key), 'utf8')).toBe('the bytes of curve.json')
})

test('a batch of folders whose version was removed leaves no mark', async () => {
  await begin()
  await removeUnfinished(folder, () => false)
  expect(await unfinished()).toHaveLength(1)
  await rm(join(folder, PREFIX), { recursive: true })
  await removeUnfinished(folder, () => false)
  expect(await unfinished()).toEqual([])
})

test('a batch of folders flushes each file if there is no program that flushes the file system', async () => {
  const { PATH } = process.env
  try {
    process.env.PATH = folder
    const batch = await begin()
    place(OBJECTS)
    await batch()
  } finally {
    process.env.PATH = PATH
  }
  expect(await unfinished()).toEqual([])
  expect(await store.list('')).toHaveLength(2)
})

test('a batch of folders refuses a key that no store can hold', async () => {
  await expect(beginBatch(store, '../elsewhere')).rejects.toThrow('not a key of an object store')
  await begin()
  expect(() => place([{ key: `${FOLDER}/../x`, bytes: new Uint8Array(1) }])).toThrow(
    'not a key of an object store',
  )
  expect(await store.list('')).toEqual([])
})
