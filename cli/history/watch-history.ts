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

/** The services that serving needs. */
export type ServingRuntime = Pick<Runtime, 'now' | 'elapsed' | 'env' | 'logStream' | 'drawBytes'>

type HistoryWatch = {
  readonly onAnswered: (answered: Answered) => void
  /** Called with the outcome of every poll of the pointer. */
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

/** Request ids: a random part for the process, and a counter. */
function createNames(drawBytes: Runtime['drawBytes']): () => string {
  const process = Buffer.from(drawBytes(NAME_BYTES)).toString('hex')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}

// Alerts if a new version cannot be served: once for each cause, and once when it is resolved.

/** Failed polls in a row before an alert on an unreachable store: one or two are temporary. */
const LOOKS_IN_A_ROW = 3

/** Takes the outcome of every poll of the pointer, and calls `raise` with alerts. */
export function createSwapAlerts(raise: (alert: Alert) => void): (outcome: RefreshOutcome) => void {
  let raised: string | null = null
  let looks = 0
  let hasServed = false
  return outcome => {
    const fault = faultOf(outcome, hasServed)
    hasServed ||= outcome.kind === 'swapped' || outcome.kind === 'fallen back'
    if (fault === null) {
      if (raised !== null) raise(RESOLVED)
      raised = null
      looks = 0
      return
    }
    looks++
    if (fault.message === raised || (fault.mayPass && looks < LOOKS_IN_A_ROW)) return
    raised = fault.message
    raise({ kind: 'swap_failed', subject: 'history', message: `${fault.message}; ${WHAT_IS_SERVED}` })
  }
}

type Fault = { readonly message: string; readonly mayPass: boolean }

const WHAT_IS_SERVED = 'the version before is still served; `highwater verify-store` shows what is wrong'

const RESOLVED: Alert = {
  kind: 'swap_mended',
  subject: 'history',
  message: 'the newest version is served again',
}

/** A version that is unfit stays so until an operator acts; a store that does not answer may answer at the next poll. */
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
