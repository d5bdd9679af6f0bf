import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFileStore } from '#storage/file-store.ts'
import { fileTimeMs } from '#storage/file-time.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const FOLDER = 'v1/snapshots/20250224T001500Z'
const INSTANT_MS = Date.UTC(2025, 1, 24, 0, 15, 0)

test.each([
  ['strategies.json', 0],
  ['strategies/ash/returns.daily.csv', 0],
  ['strategies.json.gz', 1_000],
  ['strategies.json.br', 2_000],
  ['SHA256SUMS', 0],
])('the time of the file %s is the instant of its version and %i ms', (name, after) => {
  expect(fileTimeMs(`${FOLDER}/${name}`)).toBe(INSTANT_MS + after)
})

test.each([
  'v1/current.json',
  'v1/pointer/0000000001.json',
  '20250224T001500Z/snapshot.json',
  'v1/snapshots/20250224T001500/strategies.json',
  'v1/snapshots/20250230T001500Z/strategies.json',
])('the file %s, which is of no version, has no time', key => {
  expect(fileTimeMs(key)).toBeNull()
})

test('a file store gives a file the time of its version, and leaves it where the object is there already', async () => {
  const folder = await temporaryFolder()
  const store = createFileStore(folder)
  const key = `${FOLDER}/strategies.json.br`
  for (const isNew of [true, false]) {
    expect(await store.create(key, new Uint8Array(9), { content_type: 'text/plain' })).toBe(isNew)
    expect((await stat(join(folder, key))).mtimeMs).toBe(INSTANT_MS + 2_000)
  }
})
