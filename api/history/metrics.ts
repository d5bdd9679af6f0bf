// What Prometheus reads of a process that serves history. No label holds anything that a client sent.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { DAY_MS } from '#core/calendar.ts'
import type { DatasetRecord } from '#core/dataset/snapshot.ts'
import type { CacheUse } from './answers/published-answers.ts'
import type { Answered } from './exchange.ts'
import type { RefreshOutcome } from './versions/version-source.ts'

/** What is read when the metrics are. */
export type Observed = {
  readonly dataset: () => Pick<DatasetRecord, 'version' | 'window'> | null
  readonly residentVersions: () => number
  /** What `highwater doctor` finds: 0 nothing, 1 a warning, 2 a problem. */
  readonly findings: () => Promise<readonly { readonly check: string; readonly level: number }[]>
  /** Entries of the log without a proof of their time; null if no authority is used. */
  readonly unanchored: () => Promise<number | null>
  readonly caches: Readonly<Record<string, () => CacheUse>>
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
}

export type HistoryMetrics = ReturnType<typeof createHistoryMetrics>

/** Upper bounds of the histogram in seconds: from a file in memory to an export of a large book. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Metrics of one process, until they are stopped. */
export function createHistoryMetrics(observed: Observed) {
  const registry = new Registry()
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const by = ['route', 'kind']
  const requests = counter(
    'highwater_history_requests_total',
    'Requests by route, kind of answer and status.',
    [...by, 'status'],
  )
  const bodies = counter(
    'highwater_history_response_bytes_total',
    'Bytes of bodies by route and kind of answer.',
    by,
  )
  const times = new Histogram({
    name: 'highwater_history_request_seconds',
    help: 'Time until an answer was ready to be sent.',
    labelNames: by,
    buckets: BOUNDS,
    registers,
  })
  const swaps = counter('highwater_history_swaps_total', 'Versions that were swapped in.')
  const failures = counter(
    'highwater_history_swap_failures_total',
    'Looks at the pointer after which the newest version is not served, or the list of versions is not known.',
  )
  const faults = counter('highwater_history_faults_total', 'Answers of 500: errors of the program.')
  observeDataset(registers, observed)
  observeFindings(registers, observed)
  observeCaches(registers, observed)
  const stop = observeProcess(registers)
  return {
    onAnswered({ route, kind, status, ms, bytes }: Omit<Answered, 'request_id' | 'method' | 'version'>) {
      requests.inc({ route, kind, status })
      bodies.inc({ route, kind }, bytes)
      times.observe({ route, kind }, ms / 1_000)
      if (status === 500) faults.inc()
    },
    onLook({ kind }: RefreshOutcome) {
      if (kind === 'swapped' || kind === 'fallen back') swaps.inc()
      if (kind === 'failed' || kind === 'fallen back' || kind === 'unlisted') failures.inc()
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    stop,
  }
}

function observeDataset(registers: Registry[], observed: Observed): void {
  /** Absent while the value is null. */
  const gauge = (name: string, help: string, read: () => number | null | Promise<number | null>) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const value = await read()
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  gauge(
    'highwater_history_entries_without_time_stamp',
    'Entries of the pointer log without a proof of their time; absent without an authority, and while the store does not answer.',
    () => observed.unanchored().catch(() => null),
  )
  const ageOf = (at: string | null | undefined, laterMs = 0): number | null =>
    at == null ? null : Math.max(0, (observed.now() - Date.parse(at) - laterMs) / 1_000)
  gauge(
    'highwater_history_dataset_age_seconds',
    'Time since the instant of the served version; absent while none is served.',
    () => ageOf(observed.dataset()?.version),
  )
  gauge(
    'highwater_history_data_age_seconds',
    'Time since the end of the last day of the data that is served; absent while none is.',
    () => ageOf(observed.dataset()?.window.to, DAY_MS),
  )
  gauge(
    'highwater_history_resident_versions',
    'Versions in memory: the served one and those that are pinned.',
    observed.residentVersions,
  )
}

function observeFindings(registers: Registry[], { findings }: Observed): void {
  new Gauge({
    name: 'highwater_history_finding',
    help: 'What `highwater doctor` finds, looked at every five minutes: 0 nothing, 1 a warning, 2 a problem.',
    labelNames: ['check'],
    registers,
    async collect() {
      this.reset()
      for (const { check, level } of await findings()) this.set({ check }, level)
    },
  })
}

function observeCaches(registers: Registry[], { caches }: Observed): void {
  new Counter({
    name: 'highwater_history_cache_lookups_total',
    help: 'Lookups in the caches of answers: hit, miss, or shared with an equal request under way.',
    labelNames: ['cache', 'outcome'],
    registers,
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

/** Fine enough for a target of 20 ms, and a hundred wake-ups a second. */
const RESOLUTION_MS = 10

/** Memory, and how late the event loop is. Returns how to stop watching it. */
function observeProcess(registers: Registry[]): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    name: 'highwater_history_event_loop_lag_seconds',
    help: 'How late the event loop was since the last scrape, by quantile; 1 is the longest.',
    labelNames: ['quantile'],
    registers,
    collect() {
      this.set({ quantile: 0.5 }, toSeconds(delay.percentile(50)))
      this.set({ quantile: 0.99 }, toSeconds(delay.percentile(99)))
      this.set({ quantile: 1 }, delay.count === 0 ? 0 : toSeconds(delay.max))
      delay.reset()
    },
  })
  return () => void delay.disable()
}

/** The monitor includes its own interval, which is subtracted. */
const toSeconds = (ns: number): number => Math.max(0, ns / 1e9 - RESOLUTION_MS / 1_000)
