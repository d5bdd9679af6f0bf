import { ApiError } from '#core/contract/errors.ts'
import { type Snapshot, type StrategyData, strategyOf } from '../snapshot.ts'

/** The strategy of an id. Throws `not_found` with the message that the specification gives. */
export function findStrategy(snapshot: Snapshot, id: string): StrategyData {
  const strategy = strategyOf(snapshot, id)
  if (strategy === null) throw unknownStrategy(id)
  return strategy
}

/** The refusal of an id that names no strategy. */
export const unknownStrategy = (id: string): ApiError =>
  new ApiError('not_found', `unknown strategy '${id.slice(0, LONGEST_ECHO)}'`)

/** An id is 64 characters at the most; whatever else came in its place is not repeated whole. */
const LONGEST_ECHO = 64
