import { beforeEach, expect, test } from 'vitest'
import { acquireLock, LockedError, type LockWorld } from '#storage/lock.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'

const MINUTE_MS = 60_000

let store: ObjectStore

beforeEach(() => {
  store = createMemoryStore()
})

const world = (pid: number, changes: Partial<LockWorld> & { host?: string } = {}): LockWorld => ({
  holder: { pid, host: changes.host ?? 'here', started: '2026-11-21T00:00:00Z' },
  now: changes.now ?? (() => 0),
  isAlive: changes.isAlive ?? (() => true),
})

test('a lock is held by one, whom it names to those that wait, and free again after it is released', async () => {
  const lock = await acquireLock(store, 'build', world(1))
  const refused = acquireLock(store, 'build', world(2))
  await expect(refused).rejects.toThrow(LockedError)
  await expect(refused).rejects.toThrow(
    'another build of memory:memory is running: process 1 on here since 2026-11-21T00:00:00Z',
  )
  await acquireLock(store, 'prune', world(1)) // another lock
  await lock.release()
  await (await acquireLock(store, 'build', world(2))).release()
})

test.each([
  ['of a process that is gone', 'at once', { isAlive: (pid: number) => pid !== 1 }],
  ['whose pid now belongs to another process', 'after the silence', { now: () => 6 * MINUTE_MS }],
])('a lock %s is taken over %s', async (_what, _when, changes) => {
  await acquireLock(store, 'build', world(1))
  await (await acquireLock(store, 'build', world(2, changes))).release()
})

test('a lock of another host is taken over only after it was silent for long', async () => {
  await acquireLock(store, 'build', world(1, { host: 'there' }))
  const isAlive = () => false
  const soon = world(2, { isAlive, now: () => 4 * MINUTE_MS })
  await expect(acquireLock(store, 'build', soon)).rejects.toThrow(LockedError)
  const later = world(2, { isAlive, now: () => 6 * MINUTE_MS })
  await (await acquireLock(store, 'build', later)).release()
})

test('on a full disk a lock takes the room of the record before, and nothing of a holder that lives', async () => {
  let isFull = false
  const full = (key: string) =>
    new StoreError('create', store.url, key, Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  const disk: ObjectStore = {
    ...store,
    create: async (key, ...rest) => (isFull ? Promise.reject(full(key)) : store.create(key, ...rest)),
    remove: async key => {
      isFull = false
      await store.remove(key)
    },
  }
  const before = await acquireLock(disk, 'build', world(1))
  isFull = true
  await expect(acquireLock(disk, 'build', world(2))).rejects.toThrow(LockedError)
  expect(isFull).toBe(true)
  await before.release()
  await (await acquireLock(disk, 'build', world(2))).release()
})

test('exactly one of many processes that find a stale lock takes it over', async () => {
  await acquireLock(store, 'build', world(1))
  const racers = Array.from({ length: 10 }, (_, i) =>
    acquireLock(store, 'build', world(i + 2, { isAlive: pid => pid !== 1 })),
  )
  const outcomes = await Promise.allSettled(racers)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a process that listed the locks long ago does not win against the one that holds the lock now', async () => {
  const slow = { ...store, list: async () => ['lock/build/0000000001'] }
  await acquireLock(store, 'build', world(1))
  const holder = await acquireLock(store, 'build', world(2, { isAlive: pid => pid !== 1 }))
  await holder.release()
  await acquireLock(store, 'build', world(3))
  let calls = 0
  const latecomer = {
    ...slow,
    list: (prefix: string) => (calls++ === 0 ? slow.list() : store.list(prefix)),
  }
  await expect(acquireLock(latecomer, 'build', world(4))).rejects.toThrow(LockedError)
  expect(await store.list('lock/build/')).toEqual(['lock/build/0000000003'])
})

test('a lock that was taken over is no longer held, whether or not the new holder is done', async () => {
  const slept = await acquireLock(store, 'build', world(1))
  await slept.assertHeld()
  const other = await acquireLock(store, 'build', world(2, { now: () => 6 * MINUTE_MS }))
  const lost = 'this build of memory:memory was silent for more than 5 minutes, and another has begun since'
  await expect(slept.assertHeld()).rejects.toThrow(lost)
  await other.assertHeld()
  await other.release()
  await expect(slept.assertHeld()).rejects.toThrow(lost)
  await slept.release()
  await (await acquireLock(store, 'build', world(3))).release()
  expect(await store.list('lock/')).toHaveLength(1)
})

test('a lock that was found held cannot be taken over right after, however long its holder was silent before', async () => {
  let nowMs = 0
  const lock = await acquireLock(store, 'build', world(1, { now: () => nowMs }))
  nowMs = 6 * MINUTE_MS
  await lock.assertHeld()
  await expect(acquireLock(store, 'build', world(2, { now: () => nowMs }))).rejects.toThrow(LockedError)
})
