// Folders that a store on a disk writes without a flush for each file, and flushes together.
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createFileStore } from '#storage/file-store.ts'
import { placeFolder } from '#storage/folder-batch.ts'
import type { Batch, ObjectStore } from '#storage/object-store.ts'
import { removeUnfinished } from '#storage/placing.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const PREFIX = 'v1/snapshots/20260701T001500Z'
const FOLDER = `${PREFIX}/strategies/alder`
const OBJECTS = ['curve.json', 'curve.json.br'].map(name => ({
  key: `${FOLDER}/${name}`,
  bytes: new TextEncoder().encode(`the bytes of ${name}`),
}))

let root: string
let store: ObjectStore

beforeEach(async () => {
  root = await temporaryFolder()
  store = createFileStore(root)
})

const begin = async (): Promise<Batch> => (await store.beginBatch!(PREFIX))!
const place = (objects: typeof OBJECTS) => placeFolder(store.url, FOLDER, objects)
const unfinished = () => readdir(join(root, '.unfinished'))

test('a batch of folders writes each folder whole, with the times of its version, and leaves no mark after its end', async () => {
  const batch = await begin()
  expect(place(OBJECTS)).toBe(true)
  expect(await unfinished()).toHaveLength(1)
  await batch.end()
  expect(await unfinished()).toEqual([])
  expect(await store.list('')).toEqual(OBJECTS.map(({ key }) => key))
  for (const { key, bytes } of OBJECTS) expect(await store.read(key)).toEqual(Buffer.from(bytes))
  const times = await Promise.all(OBJECTS.map(async ({ key }) => (await stat(join(root, key))).mtimeMs))
  expect(times).toEqual([Date.UTC(2026, 6, 1, 0, 15), Date.UTC(2026, 6, 1, 0, 15, 2)])
})

test('a batch of folders leaves a folder that exists as it is', async () => {
  await store.create(`${FOLDER}/curve.json`, new Uint8Array([1]), { content_type: 'application/json' })
  const batch = await begin()
  expect(place(OBJECTS)).toBe(false)
  await batch.end()
  expect(await store.list('')).toEqual([`${FOLDER}/curve.json`])
  expect(await unfinished()).toEqual([])
})

test('a batch of folders leaves none of a folder that cannot be written whole, and names it with the cause', async () => {
  const batch = await begin()
  const broken = [...OBJECTS, { key: `${FOLDER}/missing/curve.csv`, bytes: new Uint8Array(1) }]
  expect(() => place(broken)).toThrow(
    new RegExp(`^cannot create file://.*/${FOLDER}/missing/curve.csv: ENOENT`),
  )
  await batch.end()
  expect(await store.list('')).toEqual([])
  expect(await unfinished()).toEqual([])
})

test('a batch of folders keeps what a process that was killed left, because the machine still has it', async () => {
  await begin()
  place(OBJECTS)
  const batch = await begin()
  expect(place(OBJECTS)).toBe(false)
  await batch.end()
  expect(await unfinished()).toEqual([])
})

test('a batch of folders removes what was left before the machine lost power, because it may be torn, and nothing else', async () => {
  await begin()
  place(OBJECTS)
  const [mark] = await unfinished()
  await writeFile(join(root, '.unfinished', mark!), 'the id of another boot')
  await mkdir(join(root, 'v1/snapshots/20260630T001500Z'), { recursive: true })
  await writeFile(join(root, 'v1/snapshots/20260630T001500Z/stays'), '')
  await writeFile(join(root, OBJECTS[0]!.key), '') // torn
  const batch = await begin()
  expect(await store.list('')).toEqual(['v1/snapshots/20260630T001500Z/stays'])
  expect(place(OBJECTS)).toBe(true)
  await batch.end()
  expect(await readFile(join(root, OBJECTS[0]!.key), 'utf8')).toBe('the bytes of curve.json')
})

test('a batch of folders whose version was removed leaves no mark', async () => {
  await begin()
  await removeUnfinished(root, () => false)
  expect(await unfinished()).toHaveLength(1)
  await rm(join(root, PREFIX), { recursive: true })
  await removeUnfinished(root, () => false)
  expect(await unfinished()).toEqual([])
})

test('a batch of folders flushes each file if there is no program that flushes the file system', async () => {
  const { PATH } = process.env
  try {
    process.env.PATH = root
    const batch = await begin()
    place(OBJECTS)
    await batch.end()
  } finally {
    process.env.PATH = PATH
  }
  expect(await unfinished()).toEqual([])
  expect(await store.list('')).toHaveLength(2)
})

test('a batch of folders refuses a key that no store can hold', async () => {
  await expect(store.beginBatch!('../elsewhere')).rejects.toThrow('not a key of an object store')
  await begin()
  expect(() => place([{ key: `${FOLDER}/../x`, bytes: new Uint8Array(1) }])).toThrow(
    'not a key of an object store',
  )
  expect(await store.list('')).toEqual([])
})
