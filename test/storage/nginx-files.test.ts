import { expect, test } from 'vitest'
import { createFileStore } from '#storage/file-store.ts'
import { disclaimerKey, repairSwitch, SERVED_KEY, switchNginx } from '#storage/nginx-files.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { pointAt } from '../support/history/point-to.ts'
import { bytesOf } from '../support/stores/stored-bytes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const OLD = '2025-02-24T00:15:00Z'
const NEW = '2025-02-25T00:15:00Z'

const versionOf = (version: string, disclaimer?: string) => ({
  version,
  artifacts: [{ headers: {} }, { headers: disclaimer === undefined ? {} : { 'x-disclaimer': disclaimer } }],
})

const folderStore = async () => createFileStore(await temporaryFolder())

const textOf = async (store: Awaited<ReturnType<typeof folderStore>>, key: string) =>
  (await bytesOf(store, key)).toString()

test('a switch of nginx writes one line that names the version, and its disclaimer as one word of nginx', async () => {
  const store = await folderStore()
  await switchNginx(store, versionOf(OLD, String.raw`It's \ no advice`))
  expect(await textOf(store, SERVED_KEY)).toBe('set $version 20250224T001500Z;\n')
  expect(await textOf(store, disclaimerKey(OLD))).toBe(
    String.raw`20250224T001500Z 'It\'s \\ no advice';` + '\n',
  )
})

test.each([undefined, 'worth $5'])(
  'a switch leaves tables with the disclaimer %j to the tier',
  async disclaimer => {
    const store = await folderStore()
    await switchNginx(store, versionOf(OLD, disclaimer))
    expect(await store.list('')).toEqual([SERVED_KEY])
  },
)

test('a switch of nginx does nothing for a store that is no folder', async () => {
  const store = createMemoryStore('memory')
  await switchNginx(store, versionOf(OLD, 'x'))
  await repairSwitch(store, versionOf(OLD, 'x'), null)
  expect(await store.list('')).toEqual([])
})

/** A store whose newest entry names a version, while nginx serves another one or none. */
const storeWith = async (head: string, nginx: string | null) => {
  const store = await folderStore()
  await pointAt(store, head, 'digest of nothing')
  if (nginx !== null) await switchNginx(store, versionOf(nginx))
  return store
}

test.each([
  ['writes what a killed publisher did not', NEW, OLD, NEW, null, NEW],
  ['writes the first line of an older store', NEW, null, NEW, null, NEW],
  ['goes back to the version that it serves if the newest is unfit', NEW, NEW, OLD, NEW, OLD],
  ['leaves a version to its publisher that it has not looked at yet', NEW, NEW, OLD, null, NEW],
] as const)(
  'the tier that looks at the line of nginx %s',
  async (_what, head, nginx, served, unfit, expected) => {
    const store = await storeWith(head, nginx)
    await repairSwitch(store, versionOf(served), unfit)
    expect(await textOf(store, SERVED_KEY)).toBe(`set $version ${expected.replaceAll(/[-:]/g, '')};\n`)
  },
)
