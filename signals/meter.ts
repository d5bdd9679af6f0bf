// What Prometheus reads of a process: counters and histograms of its events, and gauges that are read at each scrape.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The labels and the value of each series of a gauge; empty while there is none. */
export type Series = readonly (readonly [labels: Readonly<Record<string, string | number>>, value: number])[]

/** The series of a gauge without labels; null is no value. */
export const one = (value: number | boolean | null): Series => (value === null ? [] : [[{}, Number(value)]])

/** Of all gauges: one that may have no label is 0 while it has no value, and one that may have some is absent. */
const LABELS = ['alias', 'check', 'code', 'lane', 'quantile', 'state', 'status']

export function createMeter() {
  const registry = new Registry()
  const registers = [registry]
  return {
    counter: (name: string, help: string, labelNames: string[] = [], collect?: (this: Counter) => void) =>
      new Counter({ name, help, labelNames, registers, ...(collect && { collect }) }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
    gauge: (name: string, help: string, read: () => Series | Promise<Series>) =>
      new Gauge({
        name,
        help,
        labelNames: LABELS,
        registers,
        async collect() {
          const series = await read()
          this.reset() // no old values are repeated
          for (const [labels, value] of series) this.set(labels, value)
        },
      }),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
