// What Prometheus reads of a process that serves history. No label holds anything that a client sent.
import { madeOnce } from '../http/made-once.ts'
import type { Answered } from './answered.ts'
import { watchEventLoop } from './event-loop-lag.ts'
import type { Observed } from './metrics-registry.ts'
import { createRequestCounts } from './request-counts.ts'
import type { RefreshOutcome } from './version-source.ts'

export type HistoryMetrics = {
  readonly onAnswered: (answered: Answered) => void
  readonly onLook: (outcome: RefreshOutcome) => void
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly stop: () => void
}

/** Metrics of one process, until they are stopped. */
export function createHistoryMetrics(observed: Omit<Observed, 'looks' | 'lag'>): HistoryMetrics {
  const requests = createRequestCounts()
  const looks = { swaps: 0, failures: 0 }
  const lag = watchEventLoop()
  const registryOnce = madeOnce(async () => {
    // Ninety modules, which a start need not wait for: they are loaded when somebody asks.
    const { createRegistry } = await import('./metrics-registry.ts')
    return createRegistry({ ...observed, looks, lag: lag.take })
  })
  return {
    onAnswered: requests.add,
    onLook({ kind }) {
      if (kind === 'swapped' || kind === 'fallen back') looks.swaps++
      if (kind === 'failed' || kind === 'fallen back' || kind === 'unlisted') looks.failures++
    },
    async read() {
      const registry = await registryOnce()
      return { contentType: registry.contentType, text: requests.text() + (await registry.metrics()) }
    },
    stop: lag.stop,
  }
}
