// What the program's routes accept in their queries, and the one spelling of each path.
import { oneOf } from './parameters.ts'
import { BASKET_VIEWS, type BasketView } from './payloads/program-basket.ts'
import { PERFORMANCE_BENCHMARKS, type PerformanceBenchmark } from './payloads/program-performance.ts'
import { MOST_PER_PAGE, parseQuery, wholeNumber } from './signal-query.ts'

export const PROGRAM_PATHS = {
  program: '/v1/program',
  basket: '/v1/program/basket',
  deploys: '/v1/program/deploys',
  performance: '/v1/program/performance',
  profile: '/v1/program/profile',
  simulate: '/v1/program/simulate',
  preview: '/v1/program/preview',
  previewSimulate: '/v1/program/preview/simulate',
} as const

/** Reads the query of a basket. Throws as `parseQuery` does. */
export const parseView = (query: URLSearchParams): BasketView =>
  parseQuery<{ view: BasketView }>(query, { view: 'reference' }, { view: oneOf(BASKET_VIEWS) }).view

export const basketPath = (view: BasketView): string =>
  view === 'reference' ? PROGRAM_PATHS.basket : `${PROGRAM_PATHS.basket}?view=${view}`

/** Reads the query of a performance. Throws as `parseQuery` does. */
export const parseBenchmark = (query: URLSearchParams): PerformanceBenchmark =>
  parseQuery<{ benchmark: PerformanceBenchmark }>(
    query,
    { benchmark: 'dca' },
    { benchmark: oneOf(PERFORMANCE_BENCHMARKS) },
  ).benchmark

export const performancePath = (benchmark: PerformanceBenchmark): string =>
  benchmark === 'dca' ? PROGRAM_PATHS.performance : `${PROGRAM_PATHS.performance}?benchmark=${benchmark}`

export type DeploysQuery = {
  /** Deployments after this number. */
  readonly since: number
  /** Null for all of them. */
  readonly limit: number | null
}

/** Reads the query of a pull of deployments. Throws as `parseQuery` does. */
export const parseDeploysQuery = (query: URLSearchParams): DeploysQuery =>
  parseQuery<DeploysQuery>(
    query,
    { since: 0, limit: null },
    { since: wholeNumber(0, Number.MAX_SAFE_INTEGER), limit: wholeNumber(1, MOST_PER_PAGE) },
  )

export function deploysPath({ since, limit }: DeploysQuery): string {
  const query = [...(limit === null ? [] : [`limit=${limit}`]), ...(since === 0 ? [] : [`since=${since}`])]
  return query.length === 0 ? PROGRAM_PATHS.deploys : `${PROGRAM_PATHS.deploys}?${query.join('&')}`
}
