// A part is rendered to the bytes of the whole snapshot, so a worker never needs more than a part.
import { expect, test } from 'vitest'
import { partOf } from '#core/dataset/part.ts'
import { decodeSnapshot, encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { publishedPoints, sidOf } from '#static-build/published-points.ts'
import { renderPoint } from '#static-build/render-point.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

/** More strategies than a sheet names, on two instruments, with ties, opposites and one that shares no day. */
const SNAPSHOT = handSnapshot(
  Array.from({ length: 18 }, (_, i) => ({
    id: `s${i}`,
    name: `Strategy <${i}>`,
    instrument: i % 2 === 0 ? 'BTC-PERP' : 'ETH-PERP',
    first: i === 17 ? '2020-01-01' : '2023-01-01',
    returns: Array.from(
      { length: i === 17 ? 40 : 90 },
      (_, day) => Math.sin(day * (1 + (i % 7))) / (i % 3 ? 90 : -90),
    ),
    trades: [{ entry_time: 1_672_700_000_000, exit_time: 1_672_900_000_000 + i, account_return: 0.01 }],
  })),
  {},
  ['BTC-PERP', 'ETH-PERP'].map((instrument, i) => ({
    instrument,
    daily: {
      period: 'daily',
      first: 19_358,
      values: Float64Array.from({ length: 120 }, (_, day) => Math.cos(day + i) / 50),
    },
  })),
)

const WHOLE = decodeSnapshot(encodeSnapshot(SNAPSHOT))

const POINTS = Map.groupBy(publishedPoints(WHOLE), sidOf)

test('a part is rendered to the same files and lines of the manifest as the whole snapshot', () => {
  for (const [position, { id }] of SNAPSHOT.strategies.entries()) {
    const part = decodeSnapshot(encodeSnapshot(partOf(SNAPSHOT, position)))
    const points = publishedPoints(part).filter(point => sidOf(point) !== '')
    expect(points).toEqual(POINTS.get(id))
    expect(points.length).toBeGreaterThan(10)
    for (const point of points) {
      expect(renderPoint(part, point, 'quick')).toEqual(renderPoint(WHOLE, point, 'quick'))
    }
  }
})

test('a part names the twelve nearest strategies, the closest first, whatever the sign', () => {
  const { nearest } = partOf(SNAPSHOT, 0).others!
  expect(nearest).toHaveLength(12)
  const sizes = nearest.map(({ rho }) => Math.abs(rho))
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
  expect(new Set(nearest.map(({ rho }) => Math.sign(rho)))).toEqual(new Set([1, -1]))
  expect(partOf(SNAPSHOT, 17).others?.nearest).toEqual([])
})
