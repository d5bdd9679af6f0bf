// What a program has bought is bought: later versions append, and none changes or takes back.
import { beforeEach, describe, expect, test } from 'vitest'
import { parseJson } from '#storage/parse-json.ts'
import { UnreadableError } from '#storage/unreadable-error.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { versionOf } from './hand-order.ts'
import { A, B, backTo, C, D, programOf, publishWith, servedProgram, spoil } from './program-store.ts'
import { describeDifferences, digestsOf } from './tree.ts'

let stores: MemoryStores

beforeEach(() => {
  stores = createMemoryStores()
})

describe('a deployment that was published', () => {
  test('may be followed by more of them', async () => {
    await publishWith(stores, A, programOf([100, 101]))
    await publishWith(stores, B, programOf([100, 101, 102]))
    expect(parseJson((await servedProgram(stores))!.documents.deploys)).toHaveLength(3)
  })

  test('never changes, whatever is allowed: the first that would is named, with what was and what would be', async () => {
    await publishWith(stores, A, programOf([100, 101, 102]))
    const [publicBefore, privateBefore] = [
      await digestsOf(stores.store),
      await digestsOf(stores.privateStore),
    ]
    for (const allowRestatement of [false, true]) {
      const refused = publishWith(stores, B, programOf([100, 101.5, 103]), { allowRestatement })
      await expect(refused).rejects.toThrow('deployment 2 of accumulation would change')
      await expect(refused).rejects.toThrow(/ {2}2024-06-01T00:15:00Z published \{.*"seq":2,.*"price":101,/)
      await expect(refused).rejects.toThrow(/ {2}this build has \{.*"seq":2,.*"price":101.5,/)
      await expect(refused).rejects.toThrow('give another program another alias')
    }
    expect(describeDifferences(publicBefore, await digestsOf(stores.store))).toEqual([])
    expect(describeDifferences(privateBefore, await digestsOf(stores.privateStore))).toEqual([])
  })

  test('is never taken back', async () => {
    await publishWith(stores, A, programOf([100, 101]))
    await expect(publishWith(stores, B, programOf([100]))).rejects.toThrow(
      'this build has no such deployment',
    )
  })

  test('counts where its version was rolled back', async () => {
    await publishWith(stores, A, programOf([100]))
    await publishWith(stores, B, programOf([100, 101]))
    await backTo(stores, A)
    await expect(publishWith(stores, C, programOf([100, 102]))).rejects.toThrow(`${B} published`)
    await publishWith(stores, C, programOf([100, 101]))
    expect(await versionOf(stores.store)).toBe(C)
  })

  test('counts across versions without a program, and those with another one', async () => {
    await publishWith(stores, A, programOf([100, 101]))
    await publishWith(stores, B, null)
    await publishWith(stores, C, programOf([7, 8], { alias: 'another' }))
    await expect(publishWith(stores, D, programOf([100, 102]))).rejects.toThrow(`${A} published`)
    await publishWith(stores, D, programOf([100, 101]))
  })

  test('does not bind a program of another alias', async () => {
    await publishWith(stores, A, programOf([100, 101]))
    expect(
      (await publishWith(stores, B, programOf([90], { alias: 'another' }))).program_sha256,
    ).not.toBeNull()
  })

  test('that cannot be read refuses the build with the remedy, and passes where that was allowed', async () => {
    await publishWith(stores, A, programOf([100]))
    await publishWith(stores, B, programOf([100, 101]))
    await spoil(stores, B, 'program/deploys.json')
    const next = programOf([100, 102])
    await expect(publishWith(stores, C, next)).rejects.toThrow(UnreadableError)
    await expect(publishWith(stores, C, next)).rejects.toThrow('publish with --allow-restatement')
    const changed = publishWith(stores, C, programOf([99]), { allowRestatement: true })
    await expect(changed).rejects.toThrow(`${A} published`)
    await publishWith(stores, C, next, { allowRestatement: true })
    expect(await versionOf(stores.store)).toBe(C)
  })
})
