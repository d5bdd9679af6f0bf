// What a process that serves history did as counters, and how it stands as gauges, all read when somebody asks.
import { Counter, Gauge, Registry } from 'prom-client'
import type { CacheUse } from './answers/published-answers.ts'
import type { EventLoopLag } from './event-loop-lag.ts'

/** What is looked at when somebody asks. */
export type Observed = {
  readonly version: () => string | null
  /** Versions in memory. */
  readonly residentVersions: () => number
  readonly caches: Readonly<Record<string, () => CacheUse>>
  /** What became of looks at the pointer, since the process began. */
  readonly looks: { readonly swaps: number; readonly failures: number }
  readonly lag: EventLoopLag['take']
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
}

/** The metrics of one process; `looks` counts on where it is. */
export function createRegistry(observed: Observed): Registry {
  const registry = new Registry()
  countLooks(registry, observed)
  gaugeDataset(registry, observed)
  countCaches(registry, observed)
  gaugeMemory(registry)
  gaugeLag(registry, observed)
  return registry
}

function countLooks(registry: Registry, { looks }: Observed): void {
  new Counter({
    name: 'highwater_history_swaps_total',
    help: 'Versions that were swapped in.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(looks.swaps)
    },
  })
  new Counter({
    name: 'highwater_history_swap_failures_total',
    help: 'Looks at the pointer after which the newest version is not served, or the list of versions is not known.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(looks.failures)
    },
  })
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

function gaugeLag(registry: Registry, { lag }: Observed): void {
  new Gauge({
    name: 'highwater_history_event_loop_lag_seconds',
    help: 'How late the event loop was since the last scrape, by quantile; 1 is the longest.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const { quantile, seconds } of lag()) this.set({ quantile }, seconds)
    },
  })
}
