import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { assertApart } from '#storage/open-store.ts'
import { temporaryFolder } from '#test/setup/temporary-folder.ts'

describe('a public and a private store', () => {
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
  ])('%s and %s are refused', async (open, hidden) => {
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
  ])('%s and %s lie apart', async (open, hidden) => {
    await assertApart(open, hidden)
  })

  test('that overlap by a link are refused, also where the folder below it is not there yet', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'www'))
    await symlink('www', join(folder, 'link'))
    const urlOf = (path: string) => pathToFileURL(join(folder, path)).href
    await expect(assertApart(urlOf('www'), urlOf('link/private'))).rejects.toThrow('overlap')
    await expect(assertApart(urlOf('link'), urlOf('www'))).rejects.toThrow('overlap')
    await assertApart(urlOf('www'), urlOf('www.private'))
  })

  test('of which one is no store is told with the legal form', async () => {
    await expect(assertApart('file:///srv/store', 'ftp://x')).rejects.toThrow(
      'not a store: "ftp://x"; expected',
    )
  })
})
