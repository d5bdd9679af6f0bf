// Answers that speak of the process: health, readiness, versions and the index.
import { ApiError } from '#core/contract/errors.ts'
import type { ReadinessChecks } from '#core/contract/readiness-checks.ts'
import type { Links } from '#core/contract/register.ts'
import { ROUTES } from '#core/contract/routes.ts'
import type { Json } from '#core/dataset/render/json.ts'
import type { ServedVersion } from './served-version.ts'

/** What an infrastructure endpoint says, before the envelope. */
export type InfrastructureAnswer = { readonly data: Json; readonly links: Links }

export const health = (served: ServedVersion | null): InfrastructureAnswer => ({
  data: { status: 'ok', strategy_count: served?.snapshot.strategies.length ?? 0 },
  links: { self: '/healthz', readyz: '/readyz', version: '/version' },
})

/** What is known of the version that should be served. */
export type Readiness = { readonly checks: ReadinessChecks; readonly unfitVersion: string | null }

/** Throws `not_ready` with the checks while there is nothing to serve, or while the process is on its way out. */
export function readiness(
  served: ServedVersion | null,
  { checks, unfitVersion }: Readiness,
  isDraining: boolean,
  nowMs: number,
): InfrastructureAnswer {
  if (isDraining) throw new ApiError('not_ready', 'the process is shutting down', { details: { checks } })
  if (served === null) {
    throw new ApiError('not_ready', 'no dataset is loaded that passes its integrity checks', {
      details: { checks },
    })
  }
  const age = Math.max(0, Math.floor((nowMs - Date.parse(served.version)) / 1000))
  return {
    data: { ready: true, checks, dataset_age_seconds: age, unfit_version: unfitVersion },
    links: { self: '/readyz', healthz: '/healthz', version: '/version' },
  }
}

export const API_VERSION = '1.0'

export function versions(served: ServedVersion | null): InfrastructureAnswer {
  const dataset = served?.snapshot.dataset
  return {
    data: {
      api_version: API_VERSION,
      stability: 'stable',
      dataset_version: dataset?.version ?? null,
      history_restated: served?.snapshot.dataset.history_restated ?? null,
      generated_utc: dataset?.version ?? null,
      window: dataset?.window ?? { from: null, to: null },
      max_modelled_risk_pct: dataset?.max_modelled_risk_pct ?? null,
    },
    links: {
      self: '/version',
      dataset: '/v1/dataset',
      versions: '/v1/dataset/versions',
      strategies: '/v1/strategies',
    },
  }
}

export const index = (served: ServedVersion | null): InfrastructureAnswer => ({
  data: {
    service: served?.snapshot.dataset.name ?? 'Highwater',
    endpoints: ROUTES.map(({ path, about }) => ({ path, about })),
  },
  links: {
    self: '/',
    docs: '/docs',
    openapi: '/openapi.json',
    version: '/version',
    strategies: '/v1/strategies',
  },
})
