import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { positionTime } from '#core/figures/exposure.ts'

const positions = (...pairs: [entry: number, exit: number][]) =>
  pairs.map(([entry_time, exit_time]) => ({ entry_time, exit_time }))

describe('position time', () => {
  test('overlapping positions count once in the union and each in the total', () => {
    expect(positionTime(positions([10, 30], [20, 50], [60, 70]), 0, 100)).toEqual({
      unionMs: 50,
      totalMs: 60,
      maxConcurrent: 2,
    })
  })

  test('a position that begins when another ends is not a second one at once', () => {
    expect(positionTime(positions([10, 20], [20, 30], [20, 25]), 0, 100)).toEqual({
      unionMs: 20,
      totalMs: 25,
      maxConcurrent: 2,
    })
  })

  test('what lies outside the window is cut off, and a position without length is none', () => {
    expect(positionTime(positions([-10, 5], [90, 200], [50, 50], [-5, 0], [100, 110]), 0, 100)).toEqual({
      unionMs: 15,
      totalMs: 15,
      maxConcurrent: 1,
    })
    expect(positionTime([], 0, 100)).toEqual({ unionMs: 0, totalMs: 0, maxConcurrent: 0 })
  })

  test('is what counting every millisecond gives', () => {
    const interval = fc.tuple(fc.integer({ min: -5, max: 35 }), fc.nat(15)).map(([entry, length]) => ({
      entry_time: entry,
      exit_time: entry + length,
    }))
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 8 }), all => {
        const open = Array.from(
          { length: 30 },
          (_, t) => all.filter(({ entry_time, exit_time }) => entry_time <= t && t < exit_time).length,
        )
        expect(positionTime(all, 0, 30)).toEqual({
          unionMs: open.filter(count => count > 0).length,
          totalMs: open.reduce((sum, count) => sum + count, 0),
          maxConcurrent: Math.max(...open),
        })
      }),
    )
  })
})
