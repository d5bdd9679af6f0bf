/** What must hold of a version before it is served. */
export const READINESS_CHECKS = [
  'manifest_loaded',
  'count_matches',
  'per_strategy_loaded',
  'correlation_dims',
] as const

export type ReadinessChecks = Readonly<Record<(typeof READINESS_CHECKS)[number], boolean>>
