import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { publishedPoints } from '#static-build/published-points.ts'
import { batchPoints } from '#static-build/render-version.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

const [POINT] = publishedPoints(handSnapshot([{ id: 'oak', returns: [0.01, -0.02] }]))

/** Points with so much in them. */
const pointsOf = (cells: readonly number[]) => cells.map(each => ({ ...POINT!, cells: each }))

describe('batches of points', () => {
  test('hold every point once, in order, no more than sixteen, and no more work than a fair part unless one point is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 3_000 }),
        fc.integer({ min: 1, max: 64 }),
        (cells, threads) => {
          const points = pointsOf(cells)
          const batches = batchPoints(points, threads)
          const fair = cells.reduce((sum, each) => sum + each, 0) / (threads * 64)
          expect(batches.flat()).toEqual(points)
          for (const batch of batches) {
            const work = batch.reduce((sum, point) => sum + point.cells, 0)
            expect(batch.length >= 1 && batch.length <= 16).toBe(true)
            expect(batch.length === 1 || work <= fair).toBe(true)
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test('are as few as may be: a thousand equal answers for two threads are a message for each eight', () => {
    const batches = batchPoints(pointsOf(Array(1_024).fill(7)), 2)
    expect(batches.map(({ length }) => length)).toEqual(Array(128).fill(8))
  })

  test('are no larger than sixteen where fair would be more', () => {
    const batches = batchPoints(pointsOf(Array(4_096).fill(7)), 1)
    expect(batches.map(({ length }) => length)).toEqual(Array(256).fill(16))
  })

  test('are single points in a small book, so that the threads end together', () => {
    expect(batchPoints(pointsOf([9, 5, 5, 5, 1]), 2).map(({ length }) => length)).toEqual([1, 1, 1, 1, 1])
  })
})
