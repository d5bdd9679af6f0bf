// The program of a version: its files are in the private store alone, bound by a digest, and what it has bought is never taken back.

import { beforeEach, expect, test } from 'vitest'
import { documentKey, manifestKey, privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { declareAll } from '#static-build/declarations.ts'
import { programDocuments } from '#static-build/save-private.ts'
import { sha256 } from '#storage/digest.ts'
import { parseJson } from '#storage/json-bytes.ts'
import {
  PROGRAM_FILES,
  PROGRAM_INDEX,
  PROGRAM_RECORDS,
  programFileName,
  programIndex,
  readManifest,
  readProgram,
  UnreadableError,
} from '#storage/published-files.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { bytesOf } from '#test/support/stores/stored-bytes.ts'
import { DAY_0 } from '../core/program/programs.ts'
import { NOTHING_DECLARED, versionOf } from './hand-order.ts'
import { A, B, backTo, C, D, programOf, publishWith, servedProgram, spoil } from './program-store.ts'
import { auditStore, faultsOf } from './signed-store.ts'
import { describeDifferences, digestsOf, jsonAt } from './tree.ts'

let stores: MemoryStores

beforeEach(() => {
  stores = createMemoryStores()
})

test('the files of a program are read back as they were computed, to the last digit', async () => {
  const program = programOf([100.1, 99.95, 1 / 3], { window: { from: DAY_0 + 1, to: DAY_0 + 9 } })
  program.bars.v[0] = Number.NaN // blank in the source, where nothing weighs by it
  await publishWith(stores, A, program)
  const read = (await servedProgram(stores))!
  expect(read).toMatchObject({ version: A, alias: 'accumulation' })
  expect(read.data).toEqual(program)
  for (const name of PROGRAM_RECORDS) {
    expect([name, parseJson(read.documents[name])]).toEqual([name, programDocuments(program, A)[name]])
  }
})

test('the files of a program lie in the private store alone, and the manifest names their index by its digest', async () => {
  const { program_sha256 } = await publishWith(stores, A, programOf([100]))
  const names = [...PROGRAM_FILES.map(programFileName), PROGRAM_INDEX]
  const keys = await stores.privateStore.list('20240601T001500Z/program/')
  expect(keys).toEqual(names.map(name => privateKey(A, name)).sort())
  expect(sha256(await bytesOf(stores.privateStore, privateKey(A, PROGRAM_INDEX)))).toBe(program_sha256)
  expect((await stores.store.list('')).filter(key => key.includes('program'))).toEqual([])
})

test('the files of a program are named by a digest that is salted by the key of the signatures', async () => {
  const signers = [createSigner(newPrivateKeyPem()), createSigner(newPrivateKeyPem()), null]
  const digests: (string | null)[] = []
  const salts: (string | null)[] = []
  for (const signer of signers) {
    stores = createMemoryStores()
    digests.push((await publishWith(stores, A, programOf([100]), { signer })).program_sha256)
    const index = parseJson(await bytesOf(stores.privateStore, privateKey(A, PROGRAM_INDEX)))
    salts.push(programIndex.parse(index).salt)
  }
  expect(new Set(digests).size).toBe(3)
  expect(salts).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
    null,
  ])
})

test('the files of a program are the same when a build is run again, and another program under the same version is refused', async () => {
  await publishWith(stores, A, programOf([100, 101]))
  const before = await digestsOf(stores.privateStore)
  await publishWith(stores, A, programOf([100, 101]))
  expect(describeDifferences(before, await digestsOf(stores.privateStore))).toEqual([])
  await expect(publishWith(stores, A, programOf([100, 102]))).rejects.toThrow('exists with other bytes')
})

test('the files of a program are none where the book has none, and in a manifest from before there were any', async () => {
  expect((await publishWith(stores, A, null)).program_sha256).toBeNull()
  expect(await servedProgram(stores)).toBeNull()
  const { program_sha256: _, ...older } = parseJson(await bytesOf(stores.store, manifestKey(A))) as Manifest // what was just published
  const bytes = new TextEncoder().encode(JSON.stringify(older))
  await stores.store.replace(manifestKey(A), bytes, { content_type: 'application/json' })
  const current = { version: A, manifest_sha256: sha256(bytes) }
  const manifest = await readManifest(stores.store, current)
  expect(await readProgram(stores.privateStore, manifest)).toBeNull()
})

test.each([...PROGRAM_FILES.map(programFileName), PROGRAM_INDEX])(
  'the files of a program are read by no one where %s is missing or altered',
  async name => {
    await publishWith(stores, A, programOf([100]))
    await spoil(stores, A, name)
    await expect(servedProgram(stores)).rejects.toThrow(
      `private/${privateKey(A, name)} is not the file that was published`,
    )
    await stores.privateStore.remove(privateKey(A, name))
    await expect(servedProgram(stores)).rejects.toThrow(UnreadableError)
  },
)

test('the files of a program are checked against their digests by an audit, which names each that is not as published', async () => {
  await publishWith(stores, A, programOf([100]))
  const auditNow = async () => {
    const found = await auditStore(stores.store, {
      isUnsignedFault: false,
      privateStore: { store: stores.privateStore, isNamed: true },
    })
    return faultsOf(found)
  }
  expect(await auditNow()).toEqual([])
  await spoil(stores, A, 'program/basket.json')
  await stores.privateStore.remove(privateKey(A, 'program/data.json'))
  expect(await auditNow()).toEqual([
    `memory:private/${privateKey(A, 'program/data.json')}: missing`,
    `memory:private/${privateKey(A, 'program/basket.json')}: altered`,
  ])
  await spoil(stores, A, PROGRAM_INDEX)
  expect(await auditNow()).toEqual([`memory:private/${privateKey(A, PROGRAM_INDEX)}: altered`])
})

test('a deployment that was published never changes and is never taken back, whatever is allowed: the first that would is named, with what was and what would be', async () => {
  await publishWith(stores, A, programOf([100, 101, 102]))
  const [publicBefore, privateBefore] = [await digestsOf(stores.store), await digestsOf(stores.privateStore)]
  for (const declared of [NOTHING_DECLARED, declareAll('a test')]) {
    const refused = publishWith(stores, B, programOf([100, 101.5, 103]), { declared })
    await expect(refused).rejects.toThrow('deployment 2 of accumulation would change')
    await expect(refused).rejects.toThrow(/ {2}2024-06-01T00:15:00Z published \{.*"seq":2,.*"price":101,/)
    await expect(refused).rejects.toThrow(/ {2}this build has \{.*"seq":2,.*"price":101.5,/)
    await expect(refused).rejects.toThrow('give another program another alias')
    const shorter = publishWith(stores, B, programOf([100, 101]), { declared })
    await expect(shorter).rejects.toThrow('this build has no such deployment')
  }
  expect(describeDifferences(publicBefore, await digestsOf(stores.store))).toEqual([])
  expect(describeDifferences(privateBefore, await digestsOf(stores.privateStore))).toEqual([])
})

test('a deployment that was published counts where its version was rolled back', async () => {
  await publishWith(stores, A, programOf([100]))
  await publishWith(stores, B, programOf([100, 101]))
  await backTo(stores, A)
  await expect(publishWith(stores, C, programOf([100, 102]))).rejects.toThrow(`${B} published`)
  await publishWith(stores, C, programOf([100, 101]))
  expect(await versionOf(stores.store)).toBe(C)
})

test('a deployment that was published counts across versions without a program, and those with another one', async () => {
  await publishWith(stores, A, programOf([100, 101]))
  await publishWith(stores, B, null)
  await publishWith(stores, C, programOf([7, 8], { alias: 'another' }))
  await expect(publishWith(stores, D, programOf([100, 102]))).rejects.toThrow(`${A} published`)
  await publishWith(stores, D, programOf([100, 101]))
  expect(await jsonAt(stores.store, documentKey(D, 'changes.json'))).not.toHaveProperty('declared')
})

test('a deployment that was published and cannot be read refuses the build with the remedy, and passes where that was allowed', async () => {
  await publishWith(stores, A, programOf([100]))
  await publishWith(stores, B, programOf([100, 101]))
  await spoil(stores, B, 'program/deploys.json')
  const next = programOf([100, 102])
  await expect(publishWith(stores, C, next)).rejects.toThrow(UnreadableError)
  await expect(publishWith(stores, C, next)).rejects.toThrow(`publish with --after-lost ${B} --reason TEXT`)
  const changed = publishWith(stores, C, programOf([99]), { declared: declareAll('a test') })
  await expect(changed).rejects.toThrow(`${A} published`)
  await publishWith(stores, C, next, { declared: declareAll('a test') })
  expect(await versionOf(stores.store)).toBe(C)
})
