import type { Clock } from '#api/clock.ts'
import { DEVELOPMENT_ORIGINS } from '#api/cors.ts'
import { errorAnswer } from '#api/error-answer.ts'
import { createHistoryApp } from '#api/history/app.ts'
import { createComputedAnswers } from '#api/history/computed-answers.ts'
import { createDictionaryDeltas } from '#api/history/dictionary-deltas.ts'
import type { HistoryParts } from '#api/history/exchange.ts'
import { createPinnedVersions } from '#api/history/pinned-versions.ts'
import { createPublishedAnswers } from '#api/history/published-answers.ts'
import { createQuickAnswers } from '#api/history/quick-answers.ts'
import type { HistorySettings } from '#api/history/settings.ts'
import { createStoredFiles } from '#api/history/stored-files.ts'
import { createVersionSource, POLL_MS, type RefreshOutcome } from '#api/history/version-source.ts'
import { type HttpApp, type RunningServer, startServer } from '#api/http-server.ts'
import { toIsoInstant } from '#core/calendar.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { openStore } from '#storage/open-store.ts'
import { SERVING_PATIENCE } from '#storage/s3-patience.ts'
import { tolerate } from '#storage/tolerate.ts'
import type { Environment } from './environment.ts'
import { toReachable } from './reachable-url.ts'

/** How long `/readyz` says 503 before the server stops listening, so that a balancer sends nobody any more. */
const DRAIN_NOTICE_MS = 500

export type HistoryService = {
  readonly url: string
  /** Drains: `/readyz` says 503, running requests end, the port is given back. */
  readonly stop: () => Promise<void>
}

/** Starts the history service on its stores. `log` is told of swaps and of everything that went wrong. */
export async function serveHistory(
  environment: Environment,
  clock: Clock,
  log: (line: string) => void,
): Promise<HistoryService> {
  const store = await openStore(environment.storeUrl, environment.s3, SERVING_PATIENCE)
  const privateStore = await openStore(environment.privateStoreUrl, environment.s3, SERVING_PATIENCE)
  const source = createVersionSource(store, privateStore)
  const tell = createTeller(environment.storeUrl, log)
  tell(await source.refresh())
  let isDraining = false
  const onError = (error: unknown): void =>
    log(`a request failed on our side: ${error instanceof Error ? error.stack : String(error)}`)
  const published = createPublishedAnswers(store, log)
  const createApp = (boundUrl: string): HttpApp => {
    const parts: HistoryParts = {
      source,
      published,
      deltas: createDictionaryDeltas(store, published, source.history, log),
      computed: createComputedAnswers(),
      pinned: createPinnedVersions(source, store, privateStore, error => log(toSentence(error))),
      files: createStoredFiles(store, source.history),
      settings: toSettings(environment, boundUrl),
      clock,
      isDraining: () => isDraining,
      onError,
    }
    const { fetch } = createHistoryApp(parts)
    return {
      fetch,
      answerAtOnce: createQuickAnswers(parts),
      answerError: error => errorAnswer(error, rawRegister(clock)),
    }
  }
  const server = await startServer(createApp, environment.host, environment.historyPort)
  // Only now: a timer would keep a process alive whose port was taken.
  const polling = setInterval(() => tolerate(source.refresh().then(tell), 'the next look comes'), POLL_MS)
  return { url: server.url, stop: () => stop(server) }

  async function stop(running: RunningServer): Promise<void> {
    isDraining = true
    clearInterval(polling)
    await new Promise(resolve => setTimeout(resolve, DRAIN_NOTICE_MS))
    await running.close()
  }
}

const toSettings = (environment: Environment, boundUrl: string): HistorySettings => ({
  allowedOrigins: new Set([...DEVELOPMENT_ORIGINS, ...environment.allowedOrigins]),
  publicBaseUrl: environment.publicBaseUrl ?? toReachable(boundUrl),
  deprecatedAtMs: environment.deprecatedAtMs,
  sunsetAtMs: environment.sunsetAtMs,
  purgesByTag: environment.purgesByTag,
})

/** What the register says where a request could not even be parsed. */
const rawRegister = (clock: Clock) =>
  register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, toIsoInstant(clock.now()), null)

/** Tells of every swap; of a failure, or of a store without a version, once and not at every look. */
function createTeller(storeUrl: string, log: (line: string) => void): (outcome: RefreshOutcome) => void {
  let isServing = false
  let lastLine = ''
  return outcome => {
    isServing ||= outcome.kind === 'swapped' || outcome.kind === 'fallen back'
    const line = describeLook(outcome, isServing, storeUrl)
    if (line !== '' && line !== lastLine) log(line)
    lastLine = line
  }
}

/** What an operator should know of a look at the pointer; nothing where nothing changed. */
function describeLook(outcome: RefreshOutcome, isServing: boolean, storeUrl: string): string {
  switch (outcome.kind) {
    case 'unchanged':
      return ''
    case 'swapped':
      return outcome.from === null ? `serving ${outcome.to}` : `swapped ${outcome.from} for ${outcome.to}`
    case 'fallen back':
      return `serving ${outcome.to}, which was published before: ${toSentence(outcome.error)}`
    case 'failed':
      return `${isServing ? 'still serving the version before' : 'nothing is served yet'}: ${toSentence(outcome.error)}`
    case 'unlisted':
      return `the list of versions stays as it was: ${toSentence(outcome.error)}`
    case 'empty':
      return isServing
        ? `still serving the version before: nothing is published in ${storeUrl} any more`
        : `nothing is published in ${storeUrl}; publish with \`highwater build --store ${storeUrl}\`; ` +
            'it will be served as soon as it is there'
  }
}

const toSentence = (error: unknown): string => (error instanceof Error ? error.message : String(error))
