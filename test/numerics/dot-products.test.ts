import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dot } from '#core/numerics/dot.ts'
import { dotProducts } from '#core/numerics/dot-products.ts'
import { returnsOf } from './arbitraries.ts'

/** Up to 40 columns of one length, which pass the edges of tiles, of turns and of near columns. */
const columns = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 35 }))
  .chain(([count, length]) => fc.array(returnsOf(length, length), { minLength: count, maxLength: count }))

/** What the sum of the sizes of the products can be off by. */
const tolerance = (x: Float64Array, y: Float64Array): number =>
  1e-12 * x.reduce((sum, value, i) => sum + Math.abs(value * y[i]!), 0)

const alone = (x: Float64Array, y: Float64Array): number => {
  let product = Number.NaN
  dotProducts([x, y], 1, (_i, _j, found) => {
    product = found
  })
  return product
}

test('every pair of the first rows comes once, within 1e-12 of the plain loop and with the bits of its product alone', () => {
  fc.assert(
    fc.property(columns, fc.nat(40), (all, limit) => {
      const rowCount = Math.min(limit, all.length)
      const seen: string[] = []
      dotProducts(all, rowCount, (i, j, product) => {
        seen.push(`${i},${j}`)
        expect(Math.abs(product - dot(all[i]!, all[j]!))).toBeLessThanOrEqual(tolerance(all[i]!, all[j]!))
        expect(product).toBe(alone(all[j]!, all[i]!))
      })
      const expected = all.flatMap((_, i) =>
        all.flatMap((_, j) => (i < rowCount && i < j ? [`${i},${j}`] : [])),
      )
      expect(seen.sort()).toEqual(expected.sort())
    }),
    { numRuns: 30 },
  )
})

test('a product is the sum over the even points plus that over the odd ones, on every machine', () => {
  const x = Float64Array.from({ length: 1001 }, (_, i) => Math.sin(i) / 3)
  const y = Float64Array.from({ length: 1001 }, (_, i) => Math.cos(i * i) / 7)
  const half = (from: number): number => {
    let sum = 0
    for (let i = from; i < x.length; i += 2) sum += x[i]! * y[i]!
    return sum
  }
  expect(alone(x, y)).toBe(half(0) + half(1))
})
