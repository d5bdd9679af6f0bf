import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { createComputedAnswers } from '#api/history/answers/computed-answers.ts'
import { createPublishedAnswers } from '#api/history/answers/published-answers.ts'
import { createHistoryApp } from '#api/history/app.ts'
import type { Answered, HistoryParts } from '#api/history/exchange.ts'
import { createStoredFiles } from '#api/history/files/stored-files.ts'
import { createHistoryMetrics, type Observed } from '#api/history/metrics.ts'
import { createPinnedVersions } from '#api/history/versions/pinned-versions.ts'
import { UnfitVersionError } from '#api/history/versions/served-version.ts'
import { createVersionSource, POLL_MS, type RefreshOutcome } from '#api/history/versions/version-source.ts'
import { sendRefusal, toApiError } from '#api/service/exchange.ts'
import { CACHING } from '#api/service/headers.ts'
import { type RunningServer, startServer } from '#api/service/http-server.ts'
import { createRemoteAddress } from '#api/service/remote-address.ts'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { Alert } from '#signals/alerts.ts'
import { codeOf, messageOf, textForLog, tolerate } from '#storage/error-code.ts'
import { repairSwitch } from '#storage/nginx-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { SERVING_PATIENCE } from '#storage/s3-access.ts'
import { unanchored } from '#storage/time-stamps.ts'
import type { Installation } from '../doctor/check.ts'
import { openStores } from '../options/store-option.ts'
import { createAlertSender } from '../outside/send-alert.ts'
import type { Runtime } from '../runtime.ts'
import { DEFAULT_ADMIN_PORT, type Environment } from '../settings/environment.ts'
import { createLog } from './log.ts'
import { allowedOrigins, interfaceSettings, type Started, startAll, untilNoticed } from './started.ts'

export type HistoryService = Awaited<ReturnType<typeof serveHistory>>

/**
 * Starts the history service on its stores. Swaps and failures go to `note`. `stop` drains: `/readyz` answers 503,
 * running requests end, the ports are closed. `look` polls the stores at once. Rejects if a port is not available; nothing runs then.
 */
export function serveHistory(environment: Environment, runtime: Runtime, note: (line: string) => void) {
  return startAll(async started => {
    const open = await openHistory(environment, runtime, note, started)
    const server = await listen(open, started)
    const admin = await listenAdmin(open, started)
    started.add(untilNoticed)
    // Not earlier: a timer would keep a process alive whose port was taken.
    started.every(POLL_MS, () => tolerate(open.look(), 'the next look comes'))
    return { url: server.url, adminUrl: admin.url, look: open.look }
  })
}

type OpenHistory = Awaited<ReturnType<typeof openHistory>>

/** Metrics are read most when a store is away: they do not wait for it. */
const inTime = <Found, Otherwise>(found: Promise<Found>, otherwise: Otherwise): Promise<Found | Otherwise> =>
  Promise.race([found, sleep(5_000, otherwise, { ref: false })])

/** Everything but the listeners; polls the stores once. */
async function openHistory(
  environment: Environment,
  runtime: Runtime,
  note: (line: string) => void,
  started: Started,
) {
  const { store, privateStore } = await openStores(environment, SERVING_PATIENCE)
  const source = createVersionSource(store, privateStore)
  const published = createPublishedAnswers(store, note)
  const computed = createComputedAnswers()
  const report = (error: unknown) => note(messageOf(error))
  const pinned = createPinnedVersions(source, store, privateStore, report, runtime.elapsed)
  const version = (): string | null => source.current()?.version ?? null
  const observed = {
    dataset: () => source.current()?.snapshot.dataset ?? null,
    findings: createFindings({ environment, runtime, store, privateStore, isReadOnly: true }),
    residentVersions: () => pinned.residents() + (version() === null ? 0 : 1),
    unanchored: async () => {
      const log = source.history()?.log ?? []
      const missing = await inTime(unanchored(store, log), null)
      const usesNone = environment.ANCHOR_COMMAND === null && missing?.length === log.length
      return missing === null || usesNone ? null : missing.length
    },
    caches: { published: published.use, computed: computed.use },
  }
  const watch = watchHistory(environment, runtime, observed, note)
  started.add(watch.stop)
  const keepSwitched = createSwitchKeeper(store, source, note)
  let lastLine = ''
  const look = async (): Promise<void> => {
    const outcome = await source.refresh()
    const line = describeLook(outcome, version() !== null, environment.STORE_URL)
    if (line !== '' && line !== lastLine) note(line) // a failure once, and not at every poll
    lastLine = line
    watch.onLook(outcome)
    await keepSwitched()
  }
  await look()
  return { environment, runtime, note, store, source, published, computed, pinned, version, watch, look }
}

const FINDINGS_MS = 300_000

/** What the doctor finds that no request shows, at most five minutes ago; nothing as long as a look at it takes. */
function createFindings(installation: Installation): Observed['findings'] {
  const look = async () => {
    const { LEVEL_OF, runCheck } = await import('../doctor/check.ts') // no request needs the doctor
    const { certificates } = await import('../doctor/check-machine.ts')
    const { disk, lastNight } = await import('../doctor/check-stores.ts')
    const found = await Promise.all([disk, lastNight, certificates].map(each => runCheck(each, installation)))
    return found.map(({ check, state }) => ({ check, level: LEVEL_OF[state] }))
  }
  const cache = new LRUCache({ max: 1, ttl: FINDINGS_MS, fetchMethod: look })
  return async () => (await inTime(cache.fetch('all'), [])) ?? []
}

/** Repairs what nginx serves after each poll. A read-only store is noted once for each version. */
function createSwitchKeeper(
  store: ObjectStore,
  source: ReturnType<typeof createVersionSource>,
  note: (line: string) => void,
): () => Promise<void> {
  let failed: string | null = null
  return async () => {
    const served = source.current()
    if (served === null || served.version === failed) return
    try {
      const { version, artifacts } = served
      await repairSwitch(store, { version, artifacts: artifacts.values() }, source.unfitVersion())
    } catch (error) {
      failed = served.version
      note(`nginx may serve an older version: ${messageOf(error)}`)
    }
  }
}

function listen(open: OpenHistory, started: Started): Promise<RunningServer> {
  const { environment, runtime, note, store, source, published, computed, pinned, watch } = open
  const { HOST, HISTORY_PORT, TRUSTED_PROXIES } = environment
  const toParts = (boundUrl: string): HistoryParts => ({
    ...{ source, published, computed, pinned, isDraining: started.isEnding },
    files: createStoredFiles(store, source.history),
    settings: {
      ...interfaceSettings(environment, boundUrl),
      allowedOrigins: allowedOrigins(environment),
      signalsBaseUrl: environment.SIGNALS_BASE_URL,
    },
    clock: runtime,
    clientOf: createRemoteAddress(['127.0.0.1', '::1', ...TRUSTED_PROXIES]),
    newRequestId: watch.newRequestId,
    onAnswered: watch.onAnswered,
    onError: (error, requestId) => note(toFault(error, requestId)),
  })
  const server = startServer(url => createHistoryApp(toParts(url)).fetch, HOST, HISTORY_PORT)
  return started.listen('HISTORY_PORT', server)
}

/** What an operator's machines read of a process that serves history: `/metrics` and `/healthz`, and nothing else. */
function createAdminApp({ watch, version, runtime, note }: OpenHistory): Hono {
  const app = new Hono()
  const refuse = (error: ApiError): Response =>
    sendRefusal(error, { generated_utc: toIsoInstant(runtime.now()), timing_ms: null }, {})
  const headers = { 'cache-control': CACHING.never }
  app.get('/healthz', c => c.json({ data: { status: 'ok', dataset_version: version() } }, 200, headers))
  app.get('/metrics', async c => {
    const { contentType, text } = await watch.metrics()
    return c.body(text, 200, { ...headers, 'content-type': contentType })
  })
  app.notFound(() => refuse(new ApiError('not_found', 'no such path; there are /metrics and /healthz')))
  app.onError(error => {
    if (!(error instanceof ApiError)) note(toFault(error))
    return refuse(toApiError(error))
  })
  return app
}

/** Which only the operator sees. */
const toFault = (error: unknown, requestId?: string): string =>
  `a request${requestId === undefined ? '' : ` (${requestId})`} failed on our side: ${textForLog(error)}`

/** Without ADMIN_PORT it has the default port, another one with a note if that is taken, or any one if the service has. */
function listenAdmin(open: OpenHistory, started: Started): Promise<RunningServer> {
  const { HISTORY_PORT, ADMIN_HOST, ADMIN_PORT } = open.environment
  const start = (port: number) => startServer(() => createAdminApp(open).fetch, ADMIN_HOST, port)
  const usual = ADMIN_PORT ?? (HISTORY_PORT === 0 ? 0 : DEFAULT_ADMIN_PORT)
  const starting = start(usual).catch(async (error: Error) => {
    if (ADMIN_PORT !== null || codeOf(error.cause) !== 'EADDRINUSE') throw error
    const server = await start(0)
    open.note(`${error.message}; the metrics are on ${server.url}: ADMIN_PORT names a port for them`)
    return server
  })
  return started.listen('ADMIN_HOST, ADMIN_PORT', starting)
}

/** The line for the outcome of a poll; empty if nothing changed. */
function describeLook(outcome: RefreshOutcome, isServing: boolean, storeUrl: string): string {
  switch (outcome.kind) {
    case 'unchanged':
      return ''
    case 'swapped':
      return outcome.from === null ? `serving ${outcome.to}` : `swapped ${outcome.from} for ${outcome.to}`
    case 'fallen back':
      return `serving ${outcome.to}, which was published before: ${messageOf(outcome.error)}`
    case 'failed':
      return `${isServing ? 'still serving the version before' : 'nothing is served yet'}: ${messageOf(outcome.error)}`
    case 'unlisted':
      return `the list of versions stays as it was: ${messageOf(outcome.error)}`
    case 'empty':
      return isServing
        ? `still serving the version before: nothing is published in ${storeUrl} any more`
        : `nothing is published in ${storeUrl}; publish with \`highwater build --store ${storeUrl}\`; ` +
            'it will be served as soon as it is there'
  }
}

// How serving is watched: the access log, the metrics, and alerts on versions that cannot be served.

export function watchHistory(
  environment: Environment,
  { now, env, logStream, drawBytes }: Runtime,
  observed: Omit<Observed, 'now'>,
  note: (line: string) => void,
) {
  const log = createLog(environment.LOG_LEVEL, logStream, now)
  const metrics = createHistoryMetrics({ ...observed, now })
  const send = createAlertSender(environment, { env, now }, note)
  const alertOnSwaps = createSwapAlerts(alert => void send(alert))
  const process = Buffer.from(drawBytes(6)).toString('hex')
  let requests = 0
  return {
    onAnswered(answered: Answered): void {
      metrics.onAnswered(answered)
      log[answered.status < 500 ? 'info' : 'warn']('request', answered)
    },
    onLook(outcome: RefreshOutcome) {
      metrics.onLook(outcome)
      alertOnSwaps(outcome)
    },
    /** In the form that a request may bring: a random part for the process, and a counter. */
    newRequestId: () => `${process}-${(++requests).toString(16)}`,
    metrics: metrics.read,
    stop: metrics.stop,
  }
}

/** Failed polls in a row before an alert on an unreachable store: one or two are temporary. */
const LOOKS_IN_A_ROW = 3

/**
 * Takes the outcome of every poll of the pointer, and raises an alert if a new version cannot be served: once for each
 * cause, and once when it is resolved. An unfit version stays so until an operator acts; a store that is away may answer at
 * the next poll, and before the first publication there is nothing to miss.
 */
export function createSwapAlerts(raise: (alert: Alert) => void): (outcome: RefreshOutcome) => void {
  let raised: string | null = null
  let looks = 0
  let hasServed = false
  return outcome => {
    const error = 'error' in outcome ? outcome.error : null
    const gone = outcome.kind === 'empty' && hasServed ? 'nothing is published any more' : null
    const fault = error === null ? gone : messageOf(error)
    hasServed ||= outcome.kind === 'swapped' || outcome.kind === 'fallen back'
    looks = fault === null ? 0 : looks + 1
    const mayPass = !(error instanceof UnfitVersionError) && looks < LOOKS_IN_A_ROW
    if (fault === raised || (fault !== null && mayPass)) return
    raised = fault
    raise(
      fault === null
        ? { kind: 'swap_mended', subject: 'history', message: 'the newest version is served again' }
        : { kind: 'swap_failed', subject: 'history', message: `${fault}; ${WHAT_IS_SERVED}` },
    )
  }
}

const WHAT_IS_SERVED = 'the version before is still served; `highwater verify-store` shows what is wrong'
