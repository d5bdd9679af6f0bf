// What is private of a program never leaves through the history tier, by whatever path.
import { expect, test } from 'vitest'
import { readHead } from '#storage/pointer-log.ts'
import { PROGRAM_FILES, PROGRAM_INDEX, programFileName } from '#storage/published-files.ts'
import { createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { createTestApp } from '#test/support/history/history-app.ts'
import { waysTo } from '#test/support/signals/ways-to-private.ts'
import { renderHere } from '../../static-build/hand-order.ts'
import { A, programOf, publishWith } from '../../static-build/program-store.ts'

const FILES = [...PROGRAM_FILES.map(programFileName), PROGRAM_INDEX]

/** The routes of the keyed service and its preview. */
const KEYED = [
  ...['', '/preview', '/preview/simulate', '/basket'],
  ...['/deploys', '/performance', '/profile', '/simulate'],
]

test('no path of the history tier leads to a file of the program', async () => {
  const stores = createMemoryStores()
  await publishWith(stores, A, programOf([100.125, 101]), { render: renderHere })
  const { app } = await createTestApp(stores.store, stores.privateStore)
  expect((await app.request('/v1/dataset')).status).toBe(200)
  const paths = [...FILES.flatMap(name => waysTo(A, name)), ...KEYED.map(path => `/v1/program${path}`)]
  for (const path of paths) {
    const response = await app.request(path)
    expect([path, response.status]).toEqual([path, 404])
    expect(await response.text()).not.toContain('100.125')
  }
})

test('the public store names the program by the digest of its index and by nothing else', async () => {
  const stores = createMemoryStores()
  const { program_sha256 } = await publishWith(stores, A, programOf([100.125, 101]), { render: renderHere })
  expect((await readHead(stores.store))?.entry.version).toBe(A)
  for (const key of await stores.store.list('')) {
    const text = new TextDecoder().decode((await stores.store.read(key)) ?? new Uint8Array())
    expect([key, /accumulation|100\.125|deploy/.test(text)]).toEqual([key, false])
    expect([key, text.includes(program_sha256 ?? '?')]).toEqual([key, key.endsWith('/manifest.json')])
  }
})
