// What Prometheus reads of a process that serves history: what it did as counters, how it stands as gauges that are read
// when somebody asks. No label holds anything that a client sent.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Registry } from 'prom-client'
import type { Answered } from './answered.ts'
import type { CacheUse } from './cache-use.ts'
import { createRequestCounts } from './request-counts.ts'
import type { RefreshOutcome } from './version-source.ts'

/** What is looked at when somebody asks. */
export type Observed = {
  readonly version: () => string | null
  /** Versions in memory. */
  readonly residentVersions: () => number
  readonly caches: Readonly<Record<string, () => CacheUse>>
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
}

export type HistoryMetrics = {
  readonly onAnswered: (answered: Answered) => void
  readonly onLook: (outcome: RefreshOutcome) => void
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly stop: () => void
}

/** Metrics of one process, until they are stopped. */
export function createHistoryMetrics(observed: Observed): HistoryMetrics {
  const registry = new Registry()
  const requests = createRequestCounts()
  const onLook = countLooks(registry)
  gaugeDataset(registry, observed)
  countCaches(registry, observed)
  gaugeMemory(registry)
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  delay.enable()
  gaugeLag(registry, delay)
  return {
    onAnswered: requests.add,
    onLook,
    read: async () => ({
      contentType: registry.contentType,
      text: requests.text() + (await registry.metrics()),
    }),
    stop: () => void delay.disable(),
  }
}

function countLooks(registry: Registry): HistoryMetrics['onLook'] {
  const swaps = new Counter({
    name: 'highwater_history_swaps_total',
    help: 'Versions that were swapped in.',
    registers: [registry],
  })
  const failures = new Counter({
    name: 'highwater_history_swap_failures_total',
    help: 'Looks at the pointer after which the newest version is not served, or the list of versions is not known.',
    registers: [registry],
  })
  return ({ kind }) => {
    if (kind === 'swapped' || kind === 'fallen back') swaps.inc()
    if (kind === 'failed' || kind === 'fallen back' || kind === 'unlisted') failures.inc()
  }
}

function gaugeDataset(registry: Registry, { version, residentVersions, now }: Observed): void {
  new Gauge({
    name: 'highwater_history_dataset_age_seconds',
    help: 'Time since the instant of the served version; absent while none is served.',
    registers: [registry],
    collect() {
      const served = version()
      if (served === null) this.remove()
      else this.set(Math.max(0, (now() - Date.parse(served)) / 1_000))
    },
  })
  new Gauge({
    name: 'highwater_history_resident_versions',
    help: 'Versions in memory: the served one and those that are pinned.',
    registers: [registry],
    collect() {
      this.set(residentVersions())
    },
  })
}

function countCaches(registry: Registry, { caches }: Observed): void {
  new Counter({
    name: 'highwater_history_cache_lookups_total',
    help: 'Lookups in the caches of answers: hit, miss, or shared with an equal request under way.',
    labelNames: ['cache', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [cache, use] of Object.entries(caches)) {
        const { hits, misses, shared } = use()
        this.inc({ cache, outcome: 'hit' }, hits)
        this.inc({ cache, outcome: 'miss' }, misses)
        this.inc({ cache, outcome: 'shared' }, shared)
      }
    },
  })
}

function gaugeMemory(registry: Registry): void {
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process.',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
}

/** Fine enough for a target of 20 ms, and a hundred wake-ups a second. */
const LAG_RESOLUTION_MS = 10

const NS_PER_SECOND = 1e9

/** The monitor counts the pause that it asked for itself, so that is taken off. */
function gaugeLag(registry: Registry, delay: IntervalHistogram): void {
  const seconds = (ns: number): number => Math.max(0, ns / NS_PER_SECOND - LAG_RESOLUTION_MS / 1_000)
  new Gauge({
    name: 'highwater_history_event_loop_lag_seconds',
    help: 'How late the event loop was since the last scrape, by quantile; 1 is the longest.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of [0.5, 0.99]) this.set({ quantile }, seconds(delay.percentile(quantile * 100)))
      this.set({ quantile: 1 }, delay.count === 0 ? 0 : seconds(delay.max))
      delay.reset()
    },
  })
}
