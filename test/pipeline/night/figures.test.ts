import { beforeAll, expect, inject, test } from 'vitest'
import { privateKey } from '#core/contract/artifacts.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { withPublications } from '#core/dataset/publication.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { SNAPSHOT_FILES } from '#core/dataset/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import { openStore } from '#storage/open-store.ts'
import { computeBook, TINY_BOOK, TINY_VERSION } from '../../support/books/publish-book.ts'

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = (await computeBook(TINY_BOOK, { threads: 1 })).snapshot
})

const SNAPSHOT_FILE_NAMES = ['document', 'daily', 'weekly', 'trades', 'correlation', 'benchmarks'] as const

test('the night of the tiny book gives the same bytes on one thread, on two and on three', async () => {
  const asFirst = (made: Snapshot) => {
    const changes = compareSnapshots(null, made)
    return encodeSnapshot(withPublications(made, { changes, before: null, record: null, gone: [] }))
  }
  const one = asFirst(snapshot)
  const three = asFirst((await computeBook(TINY_BOOK, { threads: 3 })).snapshot)
  const onTwo = await openStore(inject('tinyStore').privateUrl)
  for (const file of SNAPSHOT_FILE_NAMES) {
    const two = await onTwo.read(privateKey(TINY_VERSION, SNAPSHOT_FILES[file]))
    expect([file, sha256(three[file])]).toEqual([file, sha256(one[file])])
    expect([file, two === null ? null : sha256(two)]).toEqual([file, sha256(one[file])])
  }
})
