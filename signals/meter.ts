// What Prometheus reads of a process: counters and histograms of its events, and gauges that are read at each scrape.
import { createRequire } from 'node:module'
import type * as prom from 'prom-client'

/** Loads a part of prom-client: the whole package brings all of OpenTelemetry with it. */
const load = createRequire(import.meta.url)
const Counter: typeof prom.Counter = load('prom-client/lib/counter.js')
const Gauge: typeof prom.Gauge = load('prom-client/lib/gauge.js')
const Histogram: typeof prom.Histogram = load('prom-client/lib/histogram.js')
const Registry: typeof prom.Registry = load('prom-client/lib/registry.js')

/** The labels and the value of each series of a gauge; empty while there is none. */
export type Series = readonly (readonly [labels: Readonly<Record<string, string | number>>, value: number])[]

/** The series of a gauge without labels; null is no value. */
export const one = (value: number | boolean | null): Series => (value === null ? [] : [[{}, Number(value)]])

/** Name, help and series of each gauge. */
export type Gauges<State> = readonly (readonly [
  name: string,
  help: string,
  read: (state: State) => Series | Promise<Series>,
])[]

/** Of all gauges: one that may have no label is 0 while it has no value, and one that may have some is absent. */
const LABELS = ['alias', 'check', 'code', 'lane', 'quantile', 'state', 'status']

/** `prefix` begins every name, but those that every process has. `readState` is what the gauges are read from, at each scrape. */
export function createMeter<State>(
  prefix: string,
  gauges: Gauges<State>,
  readState: () => State | Promise<State>,
) {
  const registry = new Registry()
  const registers = [registry]
  const nameOf = (name: string): string => (name.startsWith('process_') ? name : prefix + name)
  let state: Promise<State>
  for (const [name, help, read] of gauges)
    new Gauge({
      name: nameOf(name),
      help,
      labelNames: LABELS,
      registers,
      async collect() {
        const series = await read(await state)
        this.reset() // no old values are repeated
        for (const [labels, value] of series) this.set(labels, value)
      },
    })
  return {
    counter: (name: string, help: string, labels: string[] = [], collect?: (this: prom.Counter) => void) =>
      new Counter({ name: nameOf(name), help, labelNames: labels, registers, ...(collect && { collect }) }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name: nameOf(name), help, labelNames, buckets, registers }),
    async read() {
      state = Promise.resolve(readState())
      await state
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
