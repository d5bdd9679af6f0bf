import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dotProducts } from '#core/figures/correlation.ts'
import { forAll } from '#test/support/for-all.ts'
import { returnsOf } from './arbitraries.ts'

/** Up to 40 columns of one length, which pass the edges of tiles, of panels and of turns. */
const columns = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 35 }))
  .chain(([count, length]) => fc.array(returnsOf(length, length), { minLength: count, maxLength: count }))

/** Columns whose numbers are of all sizes, in one column and between them. */
const illScaled = fc
  .tuple(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 40 }))
  .chain(([count, length]) =>
    fc.array(
      fc.array(fc.double({ min: -1e140, max: 1e140, noNaN: true }), { minLength: length, maxLength: length }),
      { minLength: count, maxLength: count },
    ),
  )
  .map(all => all.map(column => Float64Array.from(column)))

const product = (all: readonly Float64Array[], rowCount: number): Map<string, number> => {
  const found = new Map<string, number>()
  const reused = new Float64Array(all[0]!.length)
  const column = (i: number): Float64Array => {
    reused.set(all[i]!)
    return reused
  }
  dotProducts(all.length, column, rowCount, (i, j, dot) => {
    expect(found.has(`${i},${j}`)).toBe(false)
    found.set(`${i},${j}`, dot)
  })
  return found
}

const dot = (x: Float64Array, y: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < x.length; i++) sum += x[i]! * y[i]!
  return sum
}

const plainLoop = (all: readonly Float64Array[], rowCount: number): Map<string, number> =>
  new Map(
    all.flatMap((x, i) =>
      all.flatMap((y, j): [string, number][] => (i < rowCount && i < j ? [[`${i},${j}`, dot(x, y)]] : [])),
    ),
  )

test('every pair of the first rows is stored once, with the bits of a plain loop', () => {
  forAll(30, columns, fc.nat(40), (all, limit) => {
    const rowCount = Math.min(limit, all.length)
    expect(product(all, rowCount)).toEqual(plainLoop(all, rowCount))
  })
})

test('numbers of all sizes are summed as a plain loop sums them, whichever operand comes first', () => {
  forAll(30, illScaled, all => {
    expect(product(all, all.length)).toEqual(plainLoop(all, all.length))
    expect(product(all.slice(0, 2).toReversed(), 1)).toEqual(product(all.slice(0, 2), 1))
  })
})

test('columns and points beyond the blocks of the cache are summed like the others', () => {
  const wave = (column: number): Float64Array =>
    Float64Array.from({ length: 1001 }, (_, i) => Math.sin(column * column + i * i) / (i + 1))
  const all = Array.from({ length: 141 }, (_, column) => wave(column))
  expect(product(all, 9)).toEqual(plainLoop(all, 9))
})
