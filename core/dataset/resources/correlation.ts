import { z } from 'zod'
import { FORMATS } from '#core/contract/parameters.ts'
import { list, record, records, strategyId, text, whole } from '#core/contract/payloads/field.ts'
import { toCorrelation } from '#core/contract/rounding.ts'
import { type CorrelationMatrix, undefinedCellReason } from '#core/figures/correlation.ts'
import type { Period } from '#core/figures/series.ts'
import type { Json } from '../render/json.ts'
import { numberColumn, type Table, textColumn } from '../render/table.ts'
import { positionOf, type Snapshot } from '../snapshot.ts'
import { datasetRoute, unknownStrategy } from './resource.ts'

const correlationNote = (undefinedPairs: number): string =>
  'Pearson correlation of base-risk returns, pairwise over the dates that both strategies have; the risk level does not change it.' +
  undefinedSentence(undefinedPairs)

export const correlationMatrix = () =>
  record('Correlation of periodic returns, pairwise over the dates that both have.', {
    ids: list('Row and column order.', strategyId),
    matrix: list(
      'Pearson correlations, 8 decimals; symmetric, 1 on the diagonal; 0 where undefined.',
      z.array(z.number()),
    ),
    undefined_pairs: records('The cells that are 0 because they are undefined.', {
      pair: z.array(strategyId).length(2).describe('The two strategies.'),
      overlap: whole('Periods that both have.'),
      reason: text('Why there is no correlation.'),
    }),
  }).meta({ id: 'Correlation' })

export const correlation = datasetRoute({
  id: 'correlation',
  path: '/v1/correlation',
  title: 'Correlation matrix',
  about:
    'Pearson correlation of daily or weekly returns, of all strategies or of a subset. Other formats than JSON have a row and a column for each strategy; a pair without a correlation is empty.',
  parameters: ['period', 'ids'],
  formats: FORMATS,
  published: ['json'],
  isRiskFree: true,
  data: correlationMatrix,
  refusals: ['not_found', 'overloaded'],
  example: { path: '/v1/correlation?period=weekly&ids=ash,elm' },
  handler: (snapshot, params) => {
    const { payload, undefinedCount, table } = correlationPayload(snapshot, params.period, params.ids)
    return {
      data: payload,
      ...(params.format === 'json' ? {} : { table: table() }),
      meta: { period: params.period, note: correlationNote(undefinedCount) },
    }
  },
})

/** How many pairs are undefined, as the end of a note; nothing if none are. */
export const undefinedSentence = (pairs: number): string =>
  pairs === 0
    ? ''
    : ` ${pairs === 1 ? '1 pair is' : `${pairs} pairs are`} undefined: 0 in the matrix and listed in undefined_pairs.`

/**
 * The payload that the export carries too, how many of its pairs are undefined, and the matrix as a table. Its rows are made
 * when they are written: a thousand strategies have a million cells. A subset is exactly the sub-matrix. Throws
 * `not_found` on an unknown id.
 */
export function correlationPayload(snapshot: Snapshot, period: Period, ids: readonly string[] | null) {
  const matrix = snapshot.correlation[period]
  const positions = positionsOf(snapshot, ids)
  const names = positions.map(position => snapshot.strategies[position]!.id)
  const payload = {
    ids: names,
    matrix: { [Symbol.iterator]: () => publishedRows(matrix, positions) },
    undefined_pairs: { [Symbol.iterator]: () => undefinedPairs(matrix, period, positions, names) },
  } satisfies Json
  let undefinedCount = 0
  for (const _ of payload.undefined_pairs) undefinedCount++
  return { payload, undefinedCount, table: () => matrixTable(matrix, positions, names) }
}

/** The matrix with the ids as its first column. Empty where undefined: no list beside it says which cells are. */
function matrixTable(matrix: CorrelationMatrix, positions: readonly number[], ids: readonly string[]): Table {
  const columns = positions.map((position, i) => {
    const at = (row: number): number => cellOf(matrix, positions[row]!, position)
    return { ...numberColumn(ids[i]!, at), has: (row: number) => !Number.isNaN(at(row)) }
  })
  return { kind: 'table', rows: ids.length, columns: [textColumn('id', row => ids[row]!), ...columns] }
}

const positionsOf = (snapshot: Snapshot, ids: readonly string[] | null): number[] =>
  (ids ?? snapshot.strategies.map(({ id }) => id)).map(id => {
    const position = positionOf(snapshot, id)
    if (position === undefined) throw unknownStrategy(snapshot, id)
    return position
  })

/** 0 if undefined, because the specification promises numbers. */
function* publishedRows(matrix: CorrelationMatrix, positions: readonly number[]): Generator<number[]> {
  for (const row of positions) yield positions.map(column => cellOf(matrix, row, column) || 0)
}

/** 1 on the diagonal always; NaN if undefined. */
const cellOf = ({ rho, size }: CorrelationMatrix, row: number, column: number): number =>
  row === column ? 1 : toCorrelation(rho[row * size + column]!)

function* undefinedPairs(
  { rho, overlap, size }: CorrelationMatrix,
  period: Period,
  positions: readonly number[],
  names: readonly string[],
) {
  for (let i = 0; i < positions.length; i++) {
    for (let j = i + 1; j < positions.length; j++) {
      const cell = positions[i]! * size + positions[j]!
      if (!Number.isNaN(rho[cell]!)) continue
      const reason = undefinedCellReason(overlap[cell]!, period)
      yield { pair: [names[i]!, names[j]!], overlap: overlap[cell]!, reason }
    }
  }
}
