import { describe, expect, test } from 'vitest'
import { confirmPurged, PURGED_KEY, readPurgeDue } from '#static-build/purge-due.ts'
import { createMemoryStore } from '#storage/memory-store.ts'
import { pointAt } from '#test/support/history/point-to.ts'

const day = (n: number): string => `2025-02-${String(n).padStart(2, '0')}T00:15:00Z`

/** Stores whose pointer log names these days, one after the other, purged up to an entry. */
async function storesOf(days: readonly number[], purgedSeq: number | null) {
  const [store, privateStore] = [createMemoryStore(), createMemoryStore()]
  for (const n of days) await pointAt(store, day(n), `digest of ${n}`)
  if (purgedSeq !== null) await confirmPurged(privateStore, purgedSeq)
  return { store, privateStore }
}

async function dueOf(days: readonly number[], purgedSeq: number | null) {
  const { store, privateStore } = await storesOf(days, purgedSeq)
  return readPurgeDue(store, privateStore)
}

describe('nothing is due', () => {
  test.each<[string, number[], number | null]>([
    ['before anything is published', [], null],
    ['after the first version: no cache can hold another', [1], null],
    ['after the served version was only confirmed anew', [1, 1], null],
    ['after the newest entry was purged', [1, 2], 2],
    ['after a purge and a confirmation', [1, 2, 2], 2],
  ])('%s', async (_what, days, purgedSeq) => {
    expect(await dueOf(days, purgedSeq)).toBeNull()
  })
})

describe('what caches may hold of other versions is due, the latest first,', () => {
  test.each<[string, number[], number | null, number[]]>([
    ['after a publication', [1, 2], 1, [1]],
    ['after several that nobody purged', [1, 2, 3, 4], 2, [3, 2]],
    ['without a note of any purge', [1, 2, 3], null, [2, 1]],
    ['after a rollback', [1, 2, 1], 2, [2]],
    ['after one there and back, between which a cache may have been filled', [1, 2, 1], 1, [2]],
    ['with the note of another log, from before a copy was restored', [1, 2], 9, [1]],
  ])('%s', async (_what, days, purgedSeq, outdated) => {
    expect(await dueOf(days, purgedSeq)).toEqual({
      seq: days.length,
      version: day(days.at(-1) ?? 0),
      outdated: outdated.map(day),
    })
  })

  test('with a damaged note', async () => {
    const { store, privateStore } = await storesOf([1, 2], 2)
    for (const text of ['', '{"seq":"2"}', '{"seq":1']) {
      const bytes = new TextEncoder().encode(text)
      await privateStore.replace(PURGED_KEY, bytes, { content_type: 'application/json' })
      expect(await readPurgeDue(store, privateStore), text).toMatchObject({ outdated: [day(1)] })
    }
  })
})
