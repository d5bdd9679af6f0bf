// The private record of what a version was made of, and the digest that commits the operator to it.
import { expect, test } from 'vitest'
import { saveInputs } from '#static-build/save-private.ts'
import { sha256 } from '#storage/digest.ts'
import { createSigner, newPrivateKeyPem, type Signer } from '#storage/signature.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { bytesAt } from './tree.ts'

const VERSION = '2024-06-01T00:15:00Z'
const KEY = '20240601T001500Z/inputs.json'
const INPUTS = { inputs: [{ path: 'catalogue.yaml', sha256: 'ab' }] }

const signer = createSigner(newPrivateKeyPem())

test('the record of the inputs holds what was read, and its digest is the one that is published', async () => {
  const store = createMemoryStore('private')
  const digest = await saveInputs(store, VERSION, INPUTS, signer)
  const bytes = await bytesAt(store, KEY)
  expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({ version: VERSION, ...INPUTS })
  expect(digest).toBe(sha256(bytes))
})

test('the record of the inputs is the same for the same key, version and book, wherever it is made', async () => {
  const digests = await Promise.all(
    ['one', 'two'].map(name => saveInputs(createMemoryStore(name), VERSION, INPUTS, signer)),
  )
  expect(digests[0]).toBe(digests[1])
})

test('the record of the inputs cannot be guessed from its digest: another key or version salts it otherwise', async () => {
  const other = createSigner(newPrivateKeyPem())
  const salts = [
    await saltOf(signer, VERSION),
    await saltOf(other, VERSION),
    await saltOf(signer, '2024-06-02T00:15:00Z'),
  ]
  expect(new Set(salts).size).toBe(3)
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{64}$/)
})

test('the record of the inputs has neither salt nor digest without a key', async () => {
  const store = createMemoryStore('private')
  expect(await saveInputs(store, VERSION, INPUTS, null)).toBeNull()
  expect(JSON.parse(new TextDecoder().decode(await bytesAt(store, KEY)))).toMatchObject({ salt: null })
})

test('the record of the inputs of another book under the same version is refused', async () => {
  const store = createMemoryStore('private')
  await saveInputs(store, VERSION, INPUTS, signer)
  await expect(saveInputs(store, VERSION, { inputs: [] }, signer)).rejects.toThrow('exists with other bytes')
})

async function saltOf(by: Signer, version: string): Promise<string> {
  const store = createMemoryStore('private')
  await saveInputs(store, version, INPUTS, by)
  const [key = ''] = await store.list('')
  const { salt } = JSON.parse(new TextDecoder().decode(await bytesAt(store, key))) as { salt: string } // written above
  return salt
}
