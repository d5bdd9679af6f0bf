// What the files of one strategy are rendered from, cut out of a whole snapshot.
import { equalWeightBookOf } from './equal-weight-book.ts'
import { type Nearest, NO_MATRIX, positionOf, type Snapshot } from './snapshot.ts'

/** Strategies that a fact sheet names beside its own. */
const MOST_NEAREST = 12

/**
 * The part of a snapshot that the files of one strategy are made from: the dataset header, the strategy, its benchmark,
 * its nearest strategies and the equal-weight book. Files of the book cannot be made from it, because it has no matrices.
 */
export const partOf = (snapshot: Snapshot, position: number): Snapshot => {
  const strategy = snapshot.strategies[position]!
  return {
    ...snapshot,
    strategies: [strategy],
    correlation: { daily: NO_MATRIX, weekly: NO_MATRIX },
    benchmarks: snapshot.benchmarks.filter(({ instrument }) => instrument === strategy.instrument),
    others: { nearest: nearestOf(snapshot, strategy.id), book: equalWeightBookOf(snapshot) },
  }
}

/**
 * The strategies whose daily returns move most with those of one, first the closest; a part lists them. One pass over
 * its row of the matrix: a large book asks once for each of its strategies.
 */
export function nearestOf(snapshot: Snapshot, id: string): readonly Nearest[] {
  if (snapshot.others !== undefined) return snapshot.others.nearest
  const { rho, size } = snapshot.correlation.daily
  const own = positionOf(snapshot, id)!
  const row = rho.subarray(own * size, (own + 1) * size)
  const nearest: number[] = []
  for (let i = 0; i < size; i++) {
    if (i === own || Number.isNaN(row[i]!)) continue
    let at = nearest.length
    while (at > 0 && Math.abs(row[nearest[at - 1]!]!) < Math.abs(row[i]!)) at--
    if (at < MOST_NEAREST) nearest.splice(at, 0, i)
    if (nearest.length > MOST_NEAREST) nearest.pop()
  }
  return nearest.map(i => {
    const { id, name } = snapshot.strategies[i]!
    return { id, name, rho: row[i]! }
  })
}
