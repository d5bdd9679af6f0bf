import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  assembleCorrelation,
  type CorrelationMatrix,
  correlateRows,
  correlationMatrix,
  rowBlocks,
  undefinedCellReason,
} from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import { undefinedBecause } from '#core/figures/figure.ts'
import { pearson } from '#core/figures/pearson.ts'
import { completeWeeks } from '#core/figures/series.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { bookOf } from './arbitraries.ts'

const RUNS = 60

const wave = (first: number, length: number, phase: number) =>
  dailyFrom(
    first,
    Array.from({ length }, (_, i) => Math.sin((first + i) * phase) / 50),
  )

const cell = ({ rho, size }: CorrelationMatrix, i: number, j: number): number => rho[i * size + j]!

/** The matrix of the strategies at these positions, taken out of a larger one. */
const subMatrix = (matrix: CorrelationMatrix, positions: readonly number[]): CorrelationMatrix => ({
  size: positions.length,
  rho: Float64Array.from(positions.flatMap(i => positions.map(j => matrix.rho[i * matrix.size + j]!))),
  overlap: Int32Array.from(positions.flatMap(i => positions.map(j => matrix.overlap[i * matrix.size + j]!))),
})

test('a correlation matrix is symmetric to the bit, within [-1, 1], and 1 on the diagonal of every series that has one', () => {
  forAll(RUNS, bookOf(0, 12), series => {
    const matrix = correlationMatrix(series)
    series.forEach((_, i) => {
      if (!Number.isNaN(cell(matrix, i, i))) expect(cell(matrix, i, i)).toBe(1)
      series.forEach((_, j) => {
        expect(cell(matrix, i, j)).toBe(cell(matrix, j, i))
        if (!Number.isNaN(cell(matrix, i, j))) expect(Math.abs(cell(matrix, i, j))).toBeLessThanOrEqual(1)
      })
    })
  })
})

test('the correlation matrix of a subset, in any order, is exactly the sub-matrix', () => {
  const withOrder = bookOf(1, 12).chain(series =>
    fc.tuple(fc.constant(series), fc.shuffledSubarray(series.map((_, i) => i))),
  )
  forAll(RUNS, withOrder, ([series, positions]) => {
    const alone = correlationMatrix(positions.map(i => series[i]!))
    expect(alone).toEqual(subMatrix(correlationMatrix(series), positions))
  })
})

test('a correlation matrix has the same bits for any split into blocks of rows, assembled in any order', () => {
  forAll(RUNS, bookOf(1, 12), fc.integer({ min: 1, max: 14 }), (series, count) => {
    const blocks = rowBlocks(series.length, count).map(([from, to]) => correlateRows(series, from, to))
    expect(assembleCorrelation(series.length, blocks.toReversed())).toEqual(correlationMatrix(series))
  })
})

test('every cell of a correlation matrix over one window is within 1e-12 of the plain loop over its two series, whatever their scales', () => {
  const column = fc
    .tuple(
      fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }),
      fc.nat(20),
    )
    .map(([values, size]) => Float64Array.from(values, value => value * 10 ** (size - 8)))
  forAll(RUNS, fc.array(column, { minLength: 2, maxLength: 20 }), columns => {
    const matrix = correlationMatrix(columns.map(values => dailyFrom(0, values)))
    columns.forEach((x, i) => {
      columns.forEach((y, j) => {
        const off = Math.abs(cell(matrix, i, j) - pearson(x, y))
        expect(Number.isNaN(off) ? Number.isNaN(cell(matrix, i, j)) : off <= 1e-12).toBe(true)
      })
    })
  })
})

test('a correlation matrix larger than the cache of a core has every cell in its place', () => {
  const series = Array.from({ length: 150 }, (_, i) => wave(i % 3, 40, 0.1 + i / 50))
  const whole = correlationMatrix(series)
  const blocks = rowBlocks(150, 4).map(([from, to]) => correlateRows(series, from, to))
  expect(assembleCorrelation(150, blocks)).toEqual(whole)
  for (const pair of ['0 1', '3 149', '63 64', '66 129', '140 70', '149 148']) {
    const [i = 0, j = 0] = pair.split(' ').map(Number)
    expect(correlationMatrix([series[i]!, series[j]!])).toEqual(subMatrix(whole, [i, j]))
  }
})

test('a cell of a correlation matrix needs 30 common days, or 12 common weeks', () => {
  const long = wave(0, 200, 1.1)
  const matrix = correlationMatrix([long, wave(171, 60, 0.7), wave(170, 60, 0.7), wave(300, 60, 0.3)])
  expect([...matrix.overlap.slice(0, 4)]).toEqual([200, 29, 30, 0])
  expect([cell(matrix, 0, 1), cell(matrix, 0, 3)]).toEqual([Number.NaN, Number.NaN])
  expect(cell(matrix, 0, 2)).not.toBeNaN()
  expect(cell(matrix, 1, 1)).toBe(1)
  const weeks = [wave(4, 7 * 12, 1.1), wave(4, 7 * 11, 0.7), wave(4, 7 * 20, 0.7)].map(completeWeeks)
  const weekly = correlationMatrix(weeks)
  expect([cell(weekly, 0, 0), cell(weekly, 1, 1), cell(weekly, 0, 1)]).toEqual([1, Number.NaN, Number.NaN])
  expect(cell(weekly, 0, 2)).not.toBeNaN()
})

test('a series that is flat over the overlap has no correlation there, but may have one elsewhere', () => {
  const values = wave(0, 100, 1.1).values.map((r, i) => (i < 50 ? 0 : r))
  const matrix = correlationMatrix([dailyFrom(0, values), wave(0, 40, 0.7), wave(0, 100, 0.7)])
  expect(cell(matrix, 0, 1)).toBeNaN()
  expect(undefinedCellReason(matrix.overlap[1]!, 'daily')).toBe('zero_variance')
  expect(undefinedCellReason(29, 'daily')).toBe('too_few_points')
  expect(undefinedCellReason(12, 'weekly')).toBe('zero_variance')
  expect(cell(matrix, 0, 2)).not.toBeNaN()
})

test('opposite series correlate at exactly -1, whatever the rounding', () => {
  const up = wave(0, 365, 1.7)
  const matrix = correlationMatrix([up, { ...up, values: up.values.map(r => -r / 3) }])
  expect(cell(matrix, 0, 1)).toBeCloseTo(-1, 14)
  expect(cell(matrix, 0, 1)).toBeGreaterThanOrEqual(-1)
})

test('returns that are not finite have no correlation matrix', () => {
  const hole = wave(0, 50, 1)
  hole.values[7] = Number.NaN
  expect(() => correlationMatrix([hole])).toThrow(/1970-01-08 .* got NaN/)
})

test('the blocks of rows are all rows once, in order, in at most the given number of blocks', () => {
  forAll(fc.nat(300), fc.integer({ min: 1, max: 40 }), (size, count) => {
    const blocks = rowBlocks(size, count)
    expect(blocks.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i))).toEqual(
      Array.from({ length: size }, (_, i) => i),
    )
    expect(blocks.length).toBeLessThanOrEqual(count)
    expect(blocks.every(([from, to]) => to > from)).toBe(true)
  })
})

test('the blocks of rows share the cells of a large matrix about equally', () => {
  const cells = rowBlocks(1000, 8).map(([from, to]) => ((to - from) * (1000 - from + (1000 - to) + 1)) / 2)
  expect(Math.max(...cells) / Math.min(...cells)).toBeLessThan(1.05)
})

test('a matrix is refused if rows are missing, duplicated, or of another size', () => {
  const series = [wave(0, 40, 1), wave(0, 40, 2), wave(0, 40, 3)]
  const head = correlateRows(series, 0, 2)
  const tail = correlateRows(series, 2, 3)
  expect(() => assembleCorrelation(3, [head])).toThrow(/from row 2 on they are not/)
  expect(() => assembleCorrelation(3, [tail])).toThrow(/from row 0 on they are not/)
  expect(() => assembleCorrelation(3, [head, head, tail])).toThrow(/each once/)
  expect(() => assembleCorrelation(4, [head, tail])).toThrow(/all rows of 4/)
  expect(assembleCorrelation(0, []).rho).toHaveLength(0)
})

const TOO_FEW = undefinedBecause('too_few_points')

const IDS = ['oak', 'elm', 'ash', 'fir', 'yew', 'bay', 'box', 'may']

/** The figures of a matrix as `1 0.5, 0.5 1`, where `-` is no correlation. */
const diversify = (text: string) => {
  const rows = text.split(', ').map(row => row.split(' ').map(Number))
  return diversification(matrixOf(text === '' ? [] : rows), IDS)
}

const matrixOf = (rows: number[][]): CorrelationMatrix => ({
  size: rows.length,
  rho: Float64Array.from(rows.flat()),
  overlap: new Int32Array(rows.length ** 2).fill(100),
})

const NOTHING = {
  ...{ mean_correlation: TOO_FEW, most_correlated: TOO_FEW, least_correlated: TOO_FEW },
  ...{ effective_bets: TOO_FEW, coverage: { pairs: 1, pairs_defined: 0 } },
}

test.each(casesOf<[string, string, object]>`
with a negative mean correlation is as many bets as strategies -> 1 -0.5, -0.5 1 -> ${{ effective_bets: 2 }}
with a flat strategy lacks the pairs of that one alone -> 1 - 0.5, - - -, 0.5 - 1 -> ${{ n_strategies_used: 2, mean_correlation: 0.5, coverage: { pairs: 3, pairs_defined: 1 }, most_correlated: { pair: ['oak', 'ash'] } }}
with a pair without overlap lacks that pair alone -> 1 - 0.5 0.1, - 1 0.5 0.1, 0.5 0.5 1 0.2, 0.1 0.1 0.2 1 -> ${{ n_strategies_used: 4, mean_correlation: (0.5 + 0.1 + 0.5 + 0.1 + 0.2) / 5, coverage: { pairs: 6, pairs_defined: 5 }, most_correlated: { pair: ['oak', 'ash'] } }}
without a pair has no figures -> 1 -, - - -> ${{ ...NOTHING, n_strategies_used: 1 }}
of two that do not overlap has no figures -> 1 -, - 1 -> ${{ ...NOTHING, n_strategies_used: 2 }}
of one flat strategy is one bet -> - -> ${{ effective_bets: 1 }}
of no strategy has no bets -> ${''} -> ${{ effective_bets: TOO_FEW }}`)(
  'the diversification of a book %s',
  (_, matrix, figures) => {
    expect(diversify(matrix)).toMatchObject(near(figures, 1e-15) as object)
  },
)

test('a strategy that shares no days with the others changes none of their figures of diversification', () => {
  const { coverage: _, ...three } = diversify('1 0.5 0.2, 0.5 1 0.1, 0.2 0.1 1')
  const { coverage, ...four } = diversify('1 0.5 0.2 -, 0.5 1 0.1 -, 0.2 0.1 1 -, - - - 1')
  expect(four).toEqual(three)
  expect(coverage).toEqual({ pairs: 6, pairs_defined: 3 })
})
