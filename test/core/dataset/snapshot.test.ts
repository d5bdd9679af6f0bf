import { expect, test } from 'vitest'
import { type Snapshot, strategyOf } from '#core/dataset/snapshot.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'

/** A snapshot of many strategies that counts how often an id is read. */
function watched(count: number) {
  const { strategies, ...rest } = handSnapshot(
    Array.from({ length: count }, (_, i) => ({ id: `s${i}`, returns: [0.01] })),
  )
  let reads = 0
  const snapshot: Snapshot = {
    ...rest,
    strategies: strategies.map(({ id, ...strategy }) => ({
      ...strategy,
      get id() {
        reads++
        return id
      },
    })),
  }
  const readsAfter = (id: string): number => {
    strategyOf(snapshot, id)
    return reads
  }
  return { readsAfter }
}

test('a strategy is found by its id, and an unknown id finds none', () => {
  const snapshot = handSnapshot([
    { id: 'ash', returns: [0.01] },
    { id: 'elm', returns: [0.02] },
  ])
  expect(strategyOf(snapshot, 'elm')).toBe(snapshot.strategies[1])
  expect(strategyOf(snapshot, 'oak')).toBeNull()
  expect(strategyOf(snapshot, '__proto__')).toBeNull()
  expect(strategyOf(handSnapshot([{ id: 'ash', returns: [0.03] }]), 'elm')).toBeNull()
})

test('only the first look-up in a snapshot reads the ids of all strategies', () => {
  const { readsAfter } = watched(50)
  expect(readsAfter('s49')).toBe(50)
  expect(readsAfter('s48')).toBe(50)
  expect(readsAfter('unknown')).toBe(50)
})
