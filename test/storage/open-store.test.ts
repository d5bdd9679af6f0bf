import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { assertApart, cleanStore, isAlive, openStore, privateTwin } from '#storage/open-store.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { startProcess } from '../support/history/highwater-process.ts'

test.each([
  ['file:///srv/store', 'file:///srv/store'],
  ['file:///srv/store', 'file:///srv/store/'],
  ['file:///srv/store', 'file:///srv/store/private'],
  ['file:///srv/store/public', 'file:///srv/store'],
  ['file:///srv/store', 'file:///srv/other/../store/private'],
  ['file:///srv/store', 'file:///srv/%73tore/private'],
  ['file:///', 'file:///srv/private'],
  ['s3://bucket/a', 's3://bucket/a/'],
  ['s3://bucket', 's3://bucket/private'],
  ['s3://bucket/a/b', 's3://bucket/a'],
])('the public store %s and the private store %s are refused because they overlap', async (open, hidden) => {
  await expect(assertApart(open, hidden)).rejects.toThrow(
    `the private store ${hidden} and the public store ${open} overlap`,
  )
})

test.each([
  ['file:///srv/store', 'file:///srv/store.private'],
  ['file:///srv/store', 'file:///srv/private/store'],
  ['s3://bucket/store', 's3://bucket/store.private'],
  ['s3://bucket/a', 's3://other/a'],
  ['file:///bucket/a', 's3://bucket/a'],
])('the public store %s and the private store %s lie apart', async (open, hidden) => {
  await assertApart(open, hidden)
})

test('stores that overlap by a link are refused, also if the folder below it is not there yet', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'www'))
  await symlink('www', join(folder, 'link'))
  const urlOf = (path: string) => pathToFileURL(join(folder, path)).href
  await expect(assertApart(urlOf('www'), urlOf('link/private'))).rejects.toThrow('overlap')
  await expect(assertApart(urlOf('link'), urlOf('www'))).rejects.toThrow('overlap')
  await assertApart(urlOf('www'), urlOf('www.private'))
})

test('a pair of stores of which one is no store is refused with the valid form', async () => {
  await expect(assertApart('file:///srv/store', 'ftp://x')).rejects.toThrow(
    'not a store: "ftp://x"; expected',
  )
})

const access = { endpoint: 'http://127.0.0.1:9', region: 'us-east-1', credentials: null }

test.each([
  ['file:///srv/store/', 'file:///srv/store'],
  ['s3://bucket/a/b', 's3://bucket/a/b'],
  ['s3://bucket/a/b/', 's3://bucket/a/b'],
  ['s3://bucket/', 's3://bucket'],
  ['s3://bucket', 's3://bucket'],
])('a store of the URL %s is named %s', async (url, name) => {
  expect((await openStore(url, access)).url).toBe(name)
})

test.each([
  's3://',
  's3:///a',
  's3://B',
  's3://Bucket/a',
  's3://bucket?x',
  's3://user@bucket/a',
  'http://bucket/a',
])('a store of the URL %s is refused with the legal form', async url => {
  await expect(openStore(url, access)).rejects.toThrow(/^not a store: .*; expected .*s3:\/\/bucket\/prefix/)
})

test.each(['s3://bucket/../a', 's3://bucket//a', 's3://bucket/a b'])(
  'a key below %s is refused',
  async url => {
    await expect(openStore(url, access)).rejects.toThrow('not a key of an object store')
  },
)

test('a store in a bucket needs somebody to say how it is reached, and nothing to be cleaned', async () => {
  await expect(openStore('s3://bucket/a')).rejects.toThrow('no S3 access was given for s3://bucket/a')
  await cleanStore('s3://bucket/a')
})

test('a store has its private twin beside it', () => {
  expect(privateTwin('s3://bucket/store/')).toBe('s3://bucket/store.private')
  expect(privateTwin('s3://bucket')).toBe('s3://bucket.private')
  expect(privateTwin('file:///srv/store')).toBe('file:///srv/store.private')
})

test('a process is alive until it ends, even if its parent does not reap it, and a number that none has is not', async () => {
  const parent = startProcess('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  const child = Number(await parent.prints(/^\d+$/m))
  const name = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')
  await expect.poll(name).toBe('sleep\n') // until then it is a shell, which reaps its children
  expect([isAlive(process.pid), isAlive(child), isAlive(2 ** 30)]).toEqual([true, true, false])
  process.kill(child)
  await expect.poll(() => isAlive(child)).toBe(false)
  expect(() => process.kill(child, 0)).not.toThrow() // it is still in the table of processes
})
