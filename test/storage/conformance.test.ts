import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createFileStore } from '#storage/file-store.ts'
import { removeUnfinished } from '#storage/placing.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { testConformance } from '#test/support/stores/store-conformance.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const HEADERS = { content_type: 'text/plain' }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

let folder: string

beforeEach(async () => {
  folder = await temporaryFolder()
})

testConformance('memory', () => createMemoryStore())
testConformance('file', () => createFileStore(folder))

test('the file store leaves no unfinished file behind, and lists none', async () => {
  const store = createFileStore(folder)
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
  const store = createFileStore(folder)
  await expect(store.create('file/below', bytes('x'), HEADERS)).rejects.toThrow(
    /^cannot create file:\/\/.*\/file\/below: (ENOTDIR|EEXIST)/,
  )
})

test('the file store finds an object that exists without writing, even on a disk that takes no more', async () => {
  const store = createFileStore(folder)
  await store.create('a/b', bytes('x'), HEADERS)
  await rm(join(folder, '.unfinished'), { recursive: true })
  expect(await store.create('a/b', bytes('x'), HEADERS)).toBe(false)
  expect(await readdir(folder)).toEqual(['a'])
})

test('the file store leaves no empty folder where the last object of one was removed, and the others as they are', async () => {
  const store = createFileStore(folder)
  for (const key of ['a/b/c/1', 'a/b/c/2', 'a/3']) await store.create(key, bytes('x'), HEADERS)
  await store.remove('a/b/c/1')
  expect(await readdir(join(folder, 'a/b/c'))).toEqual(['2'])
  await store.remove('a/b/c/2')
  expect(await readdir(join(folder, 'a'))).toEqual(['3'])
  await store.remove('a/3')
  expect(await readdir(folder)).toEqual(['.unfinished'])
})

test('the file store writes and lists while neighbours are removed with their folders', async () => {
  const store = createFileStore(folder)
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
