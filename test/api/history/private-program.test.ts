// What is private of a program never leaves through the history tier, by whatever path.
import { expect, test } from 'vitest'
import { readHead } from '#storage/pointer-log.ts'
import { createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { renderHere } from '../../static-build/hand-order.ts'
import { A, programOf, publishWith } from '../../static-build/program-store.ts'

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
