// How a process that serves history is watched: its access log, its metrics, and the alerts on versions that cannot be served.
import type { Answered } from '#api/history/answered.ts'
import { createHistoryMetrics, type HistoryMetrics } from '#api/history/metrics.ts'
import type { Observed } from '#api/history/metrics-registry.ts'
import type { RefreshOutcome } from '#api/history/version-source.ts'
import { toIsoInstant } from '#core/calendar.ts'
import type { Environment } from '../environment.ts'
import { createAlertChannel } from '../send-alert.ts'
import type { Surroundings } from '../surroundings.ts'
import { createAccessLog } from './access-log.ts'
import { createSwapAlerts } from './swap-alerts.ts'

/** What serving needs of the world. */
export type ServingWorld = Pick<Surroundings, 'now' | 'elapsed' | 'env' | 'logStream' | 'drawBytes'>

export type HistoryWatch = {
  readonly onAnswered: (answered: Answered) => void
  /** Told of every look at the pointer. */
  readonly onLook: (outcome: RefreshOutcome) => void
  readonly newRequestId: () => string
  readonly metrics: HistoryMetrics['read']
  readonly stop: () => void
}

export function watchHistory(
  { signals }: Pick<Environment, 'signals'>,
  { now, env, logStream, drawBytes }: ServingWorld,
  observed: Omit<Observed, 'now' | 'looks' | 'lag'>,
  note: (line: string) => void,
): HistoryWatch {
  const log = createAccessLog(signals.logLevel, logStream, now)
  const metrics = createHistoryMetrics({ ...observed, now })
  const newRequestId = createNames(drawBytes)
  const send = createAlertChannel(signals, env, message => note(`warning: ${message}`))
  const alertOnSwaps = createSwapAlerts(
    alert => void send({ ...alert, at: toIsoInstant(now()), repeated: 0 }), // it never throws
  )
  const onAnswered = (answered: Answered): void => {
    metrics.onAnswered(answered)
    log.onAnswered(answered)
  }
  return {
    onAnswered,
    onLook(outcome) {
      metrics.onLook(outcome)
      alertOnSwaps(outcome)
    },
    newRequestId,
    metrics: metrics.read,
    stop() {
      metrics.stop()
      log.flush()
    },
  }
}

const NAME_BYTES = 6

/** Names of requests: what tells this process from another, and a number. */
function createNames(drawBytes: Surroundings['drawBytes']): () => string {
  const process = Buffer.from(drawBytes(NAME_BYTES)).toString('hex')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}
