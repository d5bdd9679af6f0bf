// How a process that serves history is watched: its access log, its metrics, and the alerts on versions that cannot be served.
import type { Answered } from '#api/history/exchange.ts'
import { createHistoryMetrics, type HistoryMetrics, type Observed } from '#api/history/metrics.ts'
import { UnfitVersionError } from '#api/history/versions/served-version.ts'
import type { RefreshOutcome } from '#api/history/versions/version-source.ts'
import { toIsoInstant } from '#core/calendar.ts'
import type { Alert } from '#signals/alerts.ts'
import type { Environment } from '../environment.ts'
import { createLog } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { createAlertChannel } from '../send-alert.ts'

/** What serving needs of the world. */
export type ServingRuntime = Pick<Runtime, 'now' | 'elapsed' | 'env' | 'logStream' | 'drawBytes'>

type HistoryWatch = {
  readonly onAnswered: (answered: Answered) => void
  /** Told of every look at the pointer. */
  readonly onLook: (outcome: RefreshOutcome) => void
  readonly newRequestId: () => string
  readonly metrics: HistoryMetrics['read']
  readonly stop: () => void
}

/** From here on an answer is a fault on our side, or a refusal of a whole service. */
const FIRST_FAULT = 500

export function watchHistory(
  { signals }: Pick<Environment, 'signals'>,
  { now, env, logStream, drawBytes }: ServingRuntime,
  observed: Omit<Observed, 'now'>,
  note: (line: string) => void,
): HistoryWatch {
  const log = createLog(signals.logLevel, logStream, now)
  const metrics = createHistoryMetrics({ ...observed, now })
  const newRequestId = createNames(drawBytes)
  const send = createAlertChannel(signals, env, message => note(`warning: ${message}`))
  const alertOnSwaps = createSwapAlerts(
    alert => void send({ ...alert, at: toIsoInstant(now()), repeated: 0 }), // it never throws
  )
  const onAnswered = (answered: Answered): void => {
    metrics.onAnswered(answered)
    if (answered.status < FIRST_FAULT) log.info('request', answered)
    else log.warn('request', answered)
  }
  return {
    onAnswered,
    onLook(outcome) {
      metrics.onLook(outcome)
      alertOnSwaps(outcome)
    },
    newRequestId,
    metrics: metrics.read,
    stop: metrics.stop,
  }
}

const NAME_BYTES = 6

/** Names of requests: what tells this process from another, and a number. */
function createNames(drawBytes: Runtime['drawBytes']): () => string {
  const process = Buffer.from(drawBytes(NAME_BYTES)).toString('hex')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}

// Tells somebody when a new version cannot be served: once a cause, and once more when it is mended.

/** Looks that fail in a row before a store that is away is told: one or two are a moment's. */
const LOOKS_IN_A_ROW = 3

/** Told of every look at the pointer; `raise` of what somebody should know. */
export function createSwapAlerts(raise: (alert: Alert) => void): (outcome: RefreshOutcome) => void {
  let told: string | null = null
  let looks = 0
  let hasServed = false
  return outcome => {
    const fault = faultOf(outcome, hasServed)
    hasServed ||= outcome.kind === 'swapped' || outcome.kind === 'fallen back'
    if (fault === null) {
      if (told !== null) raise(MENDED)
      told = null
      looks = 0
      return
    }
    looks++
    if (fault.message === told || (fault.mayPass && looks < LOOKS_IN_A_ROW)) return
    told = fault.message
    raise({ kind: 'swap_failed', subject: 'history', message: `${fault.message}; ${WHAT_IS_SERVED}` })
  }
}

type Fault = { readonly message: string; readonly mayPass: boolean }

const WHAT_IS_SERVED = 'the version before is still served; `highwater verify-store` shows what is wrong'

const MENDED: Alert = {
  kind: 'swap_mended',
  subject: 'history',
  message: 'the newest version is served again',
}

/** A version that is unfit stays so until somebody acts; a store that does not answer may do so at the next look. */
function faultOf(outcome: RefreshOutcome, hasServed: boolean): Fault | null {
  switch (outcome.kind) {
    case 'unchanged':
    case 'swapped':
      return null
    case 'empty': // before the first publication there is nothing to miss
      return hasServed ? { message: 'nothing is published any more', mayPass: true } : null
    case 'failed':
    case 'fallen back':
    case 'unlisted': {
      const { error } = outcome
      const message = error instanceof Error ? error.message : String(error)
      return { message, mayPass: !(error instanceof UnfitVersionError) }
    }
  }
}
