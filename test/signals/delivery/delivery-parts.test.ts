// The small parts of delivering: the watchdog, and the fair order of clients.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DeliveryEvent } from '#signals/delivery/delivery-parts.ts'
import { shuffled } from '#signals/delivery/relay.ts'
import { createWatchdog, STUCK_AFTER_MS } from '#signals/delivery/workers.ts'
import { forAll } from '#test/support/for-all.ts'

test('the watchdog reports once that clients are due while no worker begins with one, and again after a worker began', async () => {
  const state = { waiting: 3, lastStartMs: 0, nowMs: 100_000 }
  const events: DeliveryEvent[] = []
  const look = createWatchdog({
    counts: async () => ({ fast: state.waiting, slow: 0 }),
    lastStartMs: () => state.lastStartMs,
    now: () => state.nowMs,
    onEvent: event => void events.push(event),
  })
  await look()
  state.nowMs += STUCK_AFTER_MS - 1
  await look()
  expect(events).toEqual([])
  state.nowMs += 1
  await look()
  state.nowMs += STUCK_AFTER_MS
  await look()
  expect(events).toEqual([{ kind: 'stuck', waiting: 3, forMs: STUCK_AFTER_MS }])
  state.lastStartMs = state.nowMs
  state.nowMs += STUCK_AFTER_MS
  await look()
  expect(events).toHaveLength(2)
  state.waiting = 0
  state.nowMs += 10 * STUCK_AFTER_MS
  await look()
  state.waiting = 1
  await look()
  expect(events).toHaveLength(2)
})

test('a fair order has the same clients, and puts each of them first as often as any other', () => {
  forAll(
    fc.array(fc.integer()),
    fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
    (list, random) => {
      const mixed = shuffled(list, () => random.next().value)
      expect(mixed.toSorted((a, b) => a - b)).toEqual(list.toSorted((a, b) => a - b))
    },
  )
  const firsts = new Map<string, number>()
  for (const a of [0, 0.4, 0.7]) {
    for (const b of [0, 0.5]) {
      const draws = [a, b]
      const [first = ''] = shuffled(['x', 'y', 'z'], () => draws.shift() ?? 0)
      firsts.set(first, (firsts.get(first) ?? 0) + 1)
    }
  }
  expect([...firsts.values()]).toEqual([2, 2, 2])
})
