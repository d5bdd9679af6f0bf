import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchPulses } from '#pipeline/night/threads.ts'

const STALL_MS = 30_000
const SECOND_MS = 1_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: 0 })
})

afterEach(() => {
  vi.useRealTimers()
})

/** A watch over one task with the fake clock; `stalled` gathers whom it named. */
function watchOne() {
  const pulse = new Int32Array(new SharedArrayBuffer(4))
  const pulses = new Map([['oak', pulse]])
  const stalled: string[] = []
  const end = watchPulses(
    pulses,
    STALL_MS,
    () => Date.now(),
    id => stalled.push(id),
  )
  return { pulse, pulses, stalled, end }
}

describe('the watchdog', () => {
  test('leaves alone what has not begun, however long it waits for a thread', () => {
    const { stalled, end } = watchOne()
    vi.advanceTimersByTime(10 * STALL_MS)
    expect(stalled).toEqual([])
    end()
  })

  test('names a task that has begun and made no progress for the whole time, not before', () => {
    const { pulse, stalled, end } = watchOne()
    pulse[0] = 1
    vi.advanceTimersByTime(STALL_MS)
    expect(stalled).toEqual([])
    vi.advanceTimersByTime(SECOND_MS)
    expect(stalled).toContain('oak')
    end()
  })

  test('leaves alone what beats, however long it works', () => {
    const { pulse, stalled, end } = watchOne()
    for (let minute = 0; minute < 60; minute++) {
      Atomics.add(pulse, 0, 1)
      vi.advanceTimersByTime(STALL_MS - SECOND_MS)
    }
    expect(stalled).toEqual([])
    end()
  })

  test('forgets what is over, and nothing after its own end', () => {
    const { pulse, pulses, stalled, end } = watchOne()
    pulse[0] = 1
    vi.advanceTimersByTime(SECOND_MS)
    pulses.delete('oak')
    vi.advanceTimersByTime(2 * STALL_MS)
    expect(stalled).toEqual([])
    pulses.set('oak', pulse)
    end()
    vi.advanceTimersByTime(2 * STALL_MS)
    expect(stalled).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
