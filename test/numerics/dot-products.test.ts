import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dot } from '#core/numerics/dot.ts'
import { dotProducts } from '#core/numerics/dot-products.ts'
import { returnsOf } from './arbitraries.ts'

test('every pair of the first rows comes once, with the bits of its product alone', () => {
  const columns = fc
    .integer({ min: 1, max: 14 })
    .chain(count => fc.array(returnsOf(7, 7), { minLength: count, maxLength: count }))
  fc.assert(
    fc.property(columns, fc.nat(14), (all, limit) => {
      const rowCount = Math.min(limit, all.length)
      const seen: string[] = []
      dotProducts(all, rowCount, (i, j, product) => {
        seen.push(`${i},${j}`)
        expect(product).toBe(dot(all[j]!, all[i]!))
      })
      const expected = all.flatMap((_, i) =>
        all.flatMap((_, j) => (i < rowCount && i < j ? [`${i},${j}`] : [])),
      )
      expect(seen.sort()).toEqual(expected.sort())
    }),
  )
})
