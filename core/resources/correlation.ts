import { toCorrelation } from '#core/contract/rounding.ts'
import { type CorrelationMatrix, undefinedCellReason } from '#core/numerics/correlation.ts'
import type { Period } from '#core/numerics/series.ts'
import type { Json } from '#core/render/json.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import type { Resource } from './answer.ts'
import { unknownStrategy } from './find-strategy.ts'
import { bookLinks } from './links.ts'
import { correlationNote } from './notes.ts'

/** `/v1/correlation`: the matrix of all strategies, or of a subset in the order asked for. */
export const correlation: Resource = (snapshot, params) => {
  const data = correlationPayload(snapshot, params.period, params.ids)
  return {
    data,
    meta: { period: params.period, note: correlationNote(data.undefined_pairs.length) },
    links: bookLinks('correlation', params),
  }
}

/** The payload that the export carries too. A subset is exactly the sub-matrix. Throws `not_found` on an unknown id. */
export function correlationPayload(snapshot: Snapshot, period: Period, ids: readonly string[] | null) {
  const matrix = snapshot.correlation[period]
  const positions = ids === null ? snapshot.strategies.map((_, i) => i) : positionsOf(snapshot, ids)
  const nameOf = (position: number): string => snapshot.strategies[position]!.id
  return {
    ids: positions.map(nameOf),
    matrix: positions.map(row => positions.map(column => publishedCell(matrix, row, column))),
    undefined_pairs: undefinedPairs(matrix, period, positions, nameOf),
  } satisfies Json
}

function positionsOf(snapshot: Snapshot, ids: readonly string[]): number[] {
  const position = new Map(snapshot.strategies.map(({ id }, i) => [id, i]))
  return ids.map(id => {
    const found = position.get(id)
    if (found === undefined) throw unknownStrategy(id)
    return found
  })
}

/** 1 on the diagonal always; 0 where undefined, because the specification promises numbers. */
function publishedCell({ rho, size }: CorrelationMatrix, row: number, column: number): number {
  if (row === column) return 1
  const value = rho[row * size + column]!
  return Number.isNaN(value) ? 0 : toCorrelation(value)
}

function undefinedPairs(
  { rho, overlap, size }: CorrelationMatrix,
  period: Period,
  positions: readonly number[],
  nameOf: (position: number) => string,
) {
  const pairs: { pair: [string, string]; overlap: number; reason: string }[] = []
  for (let i = 0; i < positions.length; i++) {
    for (let j = i + 1; j < positions.length; j++) {
      const cell = positions[i]! * size + positions[j]!
      if (!Number.isNaN(rho[cell]!)) continue
      pairs.push({
        pair: [nameOf(positions[i]!), nameOf(positions[j]!)],
        overlap: overlap[cell]!,
        reason: undefinedCellReason(overlap[cell]!, period),
      })
    }
  }
  return pairs
}
