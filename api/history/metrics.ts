// What Prometheus reads of a process that serves history. No label holds anything that a client sent.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { DAY_MS } from '#core/calendar.ts'
import type { DatasetRecord } from '#core/dataset/snapshot.ts'
import { createMeter, type Gauges, one, type Series } from '#signals/meter.ts'
import type { CacheUse } from './answers/published-answers.ts'
import type { Answered } from './exchange.ts'
import type { RefreshOutcome } from './versions/version-source.ts'

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

/** Upper bounds of the histogram in seconds: from a file in memory to an export of a large book. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createHistoryMetrics(observed: Observed) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const meter = createMeter('highwater_history_', GAUGES, () => ({ ...observed, delay }))
  const { counter } = meter
  const by = ['route', 'kind']
  const all = [...by, 'status']
  const requests = counter('requests_total', 'Requests by route, kind of answer and status.', all)
  const bodies = counter('response_bytes_total', 'Bytes of bodies by route and kind of answer.', by)
  const times = meter.histogram('request_seconds', 'Time until an answer was ready to be sent.', BOUNDS, by)
  const swaps = counter('swaps_total', 'Versions that were swapped in.')
  const failures = counter(
    'swap_failures_total',
    'Looks at the pointer after which the newest version is not served, or the list of versions is not known.',
  )
  const faults = counter('faults_total', 'Answers of 500: errors of the program.')
  counter(
    'cache_lookups_total',
    'Lookups in the caches of answers: hit, miss, or shared with an equal request under way.',
    ['cache', 'outcome'],
    function () {
      this.reset()
      for (const [cache, use] of Object.entries(observed.caches)) {
        const { hits, misses, shared } = use()
        this.inc({ cache, outcome: 'hit' }, hits)
        this.inc({ cache, outcome: 'miss' }, misses)
        this.inc({ cache, outcome: 'shared' }, shared)
      }
    },
  )
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
    read: meter.read,
    stop: (): void => void delay.disable(),
  }
}

const GAUGES: Gauges<Observed & { readonly delay: IntervalHistogram }> = [
  [
    'entries_without_time_stamp',
    'Entries of the pointer log without a proof of their time; absent without an authority, and while the store does not answer.',
    async ({ unanchored }) => one(await unanchored().catch(() => null)),
  ],
  [
    'dataset_age_seconds',
    'Time since the instant of the served version; absent while none is served.',
    ({ dataset, now }) => ageOf(dataset()?.version, now()),
  ],
  [
    'data_age_seconds',
    'Time since the end of the last day of the data that is served; absent while none is.',
    ({ dataset, now }) => ageOf(dataset()?.window.to, now() - DAY_MS),
  ],
  [
    'resident_versions',
    'Versions in memory: the served one and those that are pinned.',
    ({ residentVersions }) => one(residentVersions()),
  ],
  [
    'finding',
    'What `highwater doctor` finds, looked at every five minutes: 0 nothing, 1 a warning, 2 a problem.',
    async ({ findings }) => (await findings()).map(({ check, level }) => [{ check }, level]),
  ],
  ['process_resident_memory_bytes', 'Memory of the process.', () => one(process.memoryUsage.rss())],
  [
    'event_loop_lag_seconds',
    'How late the event loop was since the last scrape, by quantile; 1 is the longest.',
    ({ delay }) => {
      const [p50, p99, longest] = [delay.percentile(50), delay.percentile(99), delay.count && delay.max]
      delay.reset()
      return [
        [{ quantile: 0.5 }, toSeconds(p50)],
        [{ quantile: 0.99 }, toSeconds(p99)],
        [{ quantile: 1 }, toSeconds(longest)],
      ]
    },
  ],
]

const ageOf = (at: string | null | undefined, nowMs: number): Series =>
  one(at == null ? null : Math.max(0, (nowMs - Date.parse(at)) / 1_000))

/** Fine enough for a target of 20 ms, and a hundred wake-ups a second. */
const RESOLUTION_MS = 10

/** The monitor includes its own interval, which is subtracted. */
const toSeconds = (ns: number): number => Math.max(0, ns / 1e9 - RESOLUTION_MS / 1_000)
