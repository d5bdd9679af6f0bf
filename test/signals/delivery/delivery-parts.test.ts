// The small parts of delivering: the watchdog, room for tasks, and the fair order of clients.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DeliveryEvent } from '#signals/delivery/delivery-parts.ts'
import { shuffled } from '#signals/delivery/shuffled.ts'
import { createSlots } from '#signals/delivery/slots.ts'
import { createWatchdog, STUCK_AFTER_MS } from '#signals/delivery/watchdog.ts'

describe('the watchdog', () => {
  test('tells once of calls that wait while none is begun, and again after one was', async () => {
    const state = { waiting: 3, lastStartMs: 0, nowMs: 100_000 }
    const events: DeliveryEvent[] = []
    const look = createWatchdog({
      queue: { counts: async () => ({ fast: state.waiting, slow: 0 }) },
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
})

describe('room for tasks', () => {
  test('is never exceeded, and who waits for room is let in when one ends', async () => {
    const slots = createSlots(2)
    const ends: (() => void)[] = []
    const begun: number[] = []
    const begin = (name: number): Promise<void> =>
      slots.begin(() => {
        begun.push(name)
        return new Promise(resolve => ends.push(resolve))
      })
    await begin(1)
    await begin(2)
    const third = begin(3)
    expect(begun).toEqual([1, 2])
    ends[0]?.()
    await third
    expect(begun).toEqual([1, 2, 3])
    const idle = slots.idle()
    for (const end of ends) end()
    await idle
  })
})

describe('a fair order', () => {
  test('holds the same clients, and puts each of them first as often as any other', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer()),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        (list, dice) => {
          const mixed = shuffled(list, () => dice.next().value)
          expect(mixed.toSorted((a, b) => a - b)).toEqual(list.toSorted((a, b) => a - b))
        },
      ),
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
})
