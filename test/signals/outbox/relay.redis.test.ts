// The relay on a real Redis: killed between any two writes, it does the same again and nothing is lost or doubled.
import { expect, test } from 'vitest'
import { createHighWater, MARK_AHEAD, readHighWater } from '#signals/log/high-water.ts'
import { createLogReader } from '#signals/log/read-log.ts'
import { readOutbox } from '#signals/outbox/outbox.ts'
import { type RelayParts, relayOnce } from '#signals/outbox/relay.ts'
import { RELAY_CURSOR, RELAY_LEASE, RELAYED } from '#signals/redis/keys.ts'
import { releaseLease } from '#signals/redis/lease.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { KEEPS_ORDER } from '../../support/signals/delivery.ts'
import { fire as fireOne } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

useRedis()

/** Fires signals of birch, if their ids begin so, and of alder. */
async function fire(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await fireOne(redis, id, id.startsWith('b') ? 'birch' : 'alder')
}

/** A relay whose workers are a list, and which may be killed before a write. */
function relayParts(more: Partial<RelayParts> = {}) {
  const begun: string[] = []
  const parts: RelayParts = {
    redis,
    begin: (lane, clients) => void begun.push(...clients.map(client => `${client} ${lane}`)),
    token: 'me',
    readAfter: createLogReader(redis).readAfter,
    now: () => 1_000,
    random: KEEPS_ORDER,
    debtorsOf: async signals => {
      const owed = signals.map(({ alias, seq }) => ({ alias, seq, prev: seq - 1 }))
      const alder = owed.filter(({ alias }) => alias === 'alder')
      const bolt = { destination: 'bolt', lane: 'slow', signals: alder } as const
      return [{ destination: 'acme', lane: 'fast', signals: owed }, ...(alder.length > 0 ? [bolt] : [])]
    },
    ...more,
  }
  return { parts, begun }
}

const ledgerOf = async (seq: number) => [...(await readOutbox(redis, seq)).keys()].sort()

test('the relay owes each signal to its subscribers, in order, and begins once with each client in its lane', async () => {
  await fire('a1', 'b1', 'a2')
  const { parts, begun } = relayParts()
  expect(await relayOnce(parts)).toBe(3)
  expect(await ledgerOf(1)).toEqual(['acme', 'bolt'])
  expect(await ledgerOf(2)).toEqual(['acme'])
  expect(begun).toEqual(['acme fast', 'bolt slow'])
  expect(await redis.hgetall(RELAYED)).toEqual({ alder: '3', birch: '2' })
  expect(await redis.get(RELAY_CURSOR)).toBe('3')
  expect(await relayOnce(parts)).toBe(0)
})

test('the relay does nothing while another one holds the lease, and takes over when the lease is released, or lasts for an hour because the clock was set back', async () => {
  await fire('a1')
  const first = relayParts({ token: 'first' }).parts
  await relayOnce(first)
  await fire('a2')
  const { parts, begun } = relayParts({ token: 'second' })
  expect(await relayOnce(parts)).toBeNull()
  expect(begun).toEqual([])
  await releaseLease(redis, RELAY_LEASE, 'first')
  expect(await relayOnce(parts)).toBe(1)
  await redis.set(RELAY_LEASE, 'dead', 'PX', 3_600_000)
  expect(await relayOnce(parts)).toBe(0)
})

test('a relay that stood still for longer than its lease owes nothing that another has passed, and moves nothing back', async () => {
  await fire('a1')
  const late = relayParts({ token: 'late' })
  const debtorsOf: RelayParts['debtorsOf'] = async signals => {
    await releaseLease(redis, RELAY_LEASE, 'late') // as its end does
    await fire('a2')
    expect(await relayOnce(relayParts({ token: 'quick' }).parts)).toBe(2)
    const owed = signals.map(({ seq }) => ({ seq, prev: 2 }))
    return [{ destination: 'newcomer', lane: 'fast', signals: owed }] // was entitled meanwhile
  }
  expect(await relayOnce({ ...late.parts, debtorsOf })).toBeNull()
  expect(late.begun).toEqual([])
  expect(await ledgerOf(1)).toEqual(['acme', 'bolt'])
  expect(await redis.get(RELAY_CURSOR)).toBe('2')
  expect(await redis.hgetall(RELAYED)).toEqual({ alder: '2' })
})

test('a relay that is killed before any of its writes loses nothing and owes nothing twice', async () => {
  await fire('a1', 'b1')
  for (let died = 0; ; died++) {
    let left = died
    const orDie = <T>(act: () => T): T => {
      if (left-- === 0) throw new Error('killed')
      return act()
    }
    const { parts } = relayParts()
    const dying: RelayParts = {
      ...parts,
      debtorsOf: (...asked) => orDie(() => parts.debtorsOf(...asked)),
      begin: (...due) => orDie(() => parts.begin(...due)),
    }
    const ended = await relayOnce(dying).catch(error => error)
    if (!(ended instanceof Error)) break
  }
  expect(await ledgerOf(1)).toEqual(['acme', 'bolt'])
  expect(await ledgerOf(2)).toEqual(['acme'])
  expect((await readOutbox(redis, 2)).get('acme')).toMatchObject({ prev: 1, round: 1, attempts: 0 })
  expect(await redis.get(RELAY_CURSOR)).toBe('2')
})

test('the high-water mark is left where another process has moved it further meanwhile', async () => {
  const store = createMemoryStore('private')
  const [quick, slow] = [createHighWater(store), createHighWater(store)]
  await slow.cover(1)
  await quick.cover(5 * MARK_AHEAD)
  await slow.cover(2 * MARK_AHEAD)
  expect(await readHighWater(store)).toBe(6 * MARK_AHEAD)
})

test('a damaged high-water mark is reported with its place, and how to fix it', async () => {
  const store = createMemoryStore('private')
  await store.replace('signals/high-water.json', new TextEncoder().encode('{'), {
    content_type: 'application/json',
  })
  await expect(readHighWater(store)).rejects.toThrow(
    'signals/high-water.json is damaged: write {"seq": N} there',
  )
})
