import { Hono } from 'hono'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { type Clock, sendRefusal, toApiError } from '../http/exchange.ts'
import { CACHING } from '../http/headers.ts'
import type { HistoryMetrics } from './metrics.ts'

export type AdminParts = {
  readonly metrics: HistoryMetrics['read']
  readonly version: () => string | null
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** What an operator's machines read of a process that serves history: `/metrics` and `/healthz`, and nothing else. */
export function createAdminApp({ metrics, version, clock, onError }: AdminParts): Hono {
  const app = new Hono()
  const refuse = (error: ApiError): Response =>
    sendRefusal(error, { generated_utc: toIsoInstant(clock.now()), timing_ms: null }, {})
  app.get('/healthz', c =>
    c.json({ data: { status: 'ok', dataset_version: version() } }, 200, { 'cache-control': CACHING.never }),
  )
  app.get('/metrics', async () => {
    const { contentType, text } = await metrics()
    return new Response(text, { headers: { 'content-type': contentType, 'cache-control': CACHING.never } })
  })
  app.notFound(() => refuse(new ApiError('not_found', 'no such path; there are /metrics and /healthz')))
  app.onError(error => {
    if (!(error instanceof ApiError)) onError(error)
    return refuse(toApiError(error))
  })
  return app
}
