// What a line of the route table says.
import type { ErrorCode } from './errors.ts'
import type { Format, QueryName } from './parameters.ts'

export type RouteId =
  | 'healthz'
  | 'readyz'
  | 'version'
  | 'versions'
  | 'strategies'
  | 'summary'
  | 'dataset'
  | 'correlation'
  | 'export'
  | 'strategy'
  | 'stats'
  | 'returns'
  | 'curve'
  | 'trades'

export type Route = {
  readonly id: RouteId
  /** Path template; `{sid}` is the only variable. */
  readonly path: string
  /** `infrastructure` answers speak of the process, `book` and `strategy` ones are functions of the dataset. */
  readonly kind: 'infrastructure' | 'book' | 'strategy'
  readonly title: string
  readonly about: string
  readonly query: readonly QueryName[]
  readonly formats: readonly Format[]
  /** What the route may refuse, beside what every route may. */
  readonly refusals: readonly ErrorCode[]
}
