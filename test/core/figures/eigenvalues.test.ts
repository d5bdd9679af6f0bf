import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { symmetricEigenvalues } from '#core/figures/eigenvalues.ts'

const symmetric = fc
  .integer({ min: 1, max: 9 })
  .chain(size =>
    fc.tuple(
      fc.constant(size),
      fc.array(fc.double({ min: -2, max: 2, noNaN: true }), {
        minLength: size * size,
        maxLength: size * size,
      }),
    ),
  )
  .map(([size, cells]) => ({
    size,
    matrix: Float64Array.from(cells, (_, at) => {
      const [i, j] = [Math.floor(at / size), at % size]
      return cells[Math.min(i, j) * size + Math.max(i, j)]!
    }),
  }))

describe('eigenvalues of a symmetric matrix', () => {
  test('of a diagonal matrix are its diagonal, in order', () => {
    const values = symmetricEigenvalues(Float64Array.of(3, 0, 0, 0, -1, 0, 0, 0, 2), 3)
    expect([...values].map(value => Math.round(value * 1e12) / 1e12)).toEqual([-1, 2, 3])
  })

  test('of the second difference are 2 - 2 cos(i pi / (n + 1))', () => {
    const size = 30
    const matrix = new Float64Array(size * size)
    for (let i = 0; i < size; i++) {
      matrix[i * size + i] = 2
      if (i > 0) matrix[i * size + i - 1] = matrix[(i - 1) * size + i] = -1
    }
    symmetricEigenvalues(matrix, size).forEach((value, i) => {
      expect(value).toBeCloseTo(2 - 2 * Math.cos(((i + 1) * Math.PI) / (size + 1)), 13)
    })
  })

  test('of equal correlations are one of 1 + (n - 1) rho and the rest 1 - rho, though they coincide', () => {
    const size = 12
    const matrix = Float64Array.from({ length: size * size }, (_, at) => (at % (size + 1) === 0 ? 1 : 0.3))
    const values = symmetricEigenvalues(matrix, size)
    expect(values.at(-1)).toBeCloseTo(1 + 11 * 0.3, 13)
    values.slice(0, -1).forEach(value => {
      expect(value).toBeCloseTo(0.7, 13)
    })
  })

  test('add up to the trace, their squares to the squares of the cells, and they ascend', () => {
    fc.assert(
      fc.property(symmetric, ({ size, matrix }) => {
        const values = symmetricEigenvalues(matrix, size)
        let trace = 0
        for (let i = 0; i < size; i++) trace += matrix[i * size + i]!
        const squares = matrix.reduce((sum, each) => sum + each * each, 0)
        expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(trace, 11)
        expect(values.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(squares, 10)
        expect(values).toEqual(values.toSorted())
      }),
    )
  })

  test('leaves the matrix as it is, and of nothing has none', () => {
    const matrix = Float64Array.of(2, 1, 1, 2)
    symmetricEigenvalues(matrix, 2)
    expect([...matrix]).toEqual([2, 1, 1, 2])
    expect(symmetricEigenvalues(new Float64Array(0), 0)).toHaveLength(0)
    expect([...symmetricEigenvalues(new Float64Array(4), 2)]).toEqual([0, 0])
  })
})
