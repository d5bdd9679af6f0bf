// Deliveries and their latency by the hour, drawn with the charts of the fact sheets.
import { max, sum } from 'd3-array'
import { html, raw } from 'hono/html'
import { barChart } from '#pages/charts/bar-chart.ts'
import type { Day, Hour } from '#signals/views/recent.ts'
import { duration, type Piece } from './layout.ts'

const HEIGHT = 150

export function dayCharts({ hours, isWhole }: Day): Piece {
  if (hours.every(({ delivered, exhausted }) => delivered + exhausted === 0))
    return html`<p class="panel dim">No delivery ended in the last 24 hours.</p>`
  const [delivered, exhausted] = [sum(hours, hour => hour.delivered), sum(hours, hour => hour.exhausted)]
  const longest = max(hours, ({ latency }) => latency?.max)
  return html`<div class="charts">${[
    chart(
      'deliveries',
      `Acknowledged in each hour (UTC): ${delivered} in all, ${exhausted} given up`,
      hours,
      hour => [hour.delivered === 0 ? null : hour.delivered, `${hour.exhausted} given up`],
    ),
    chart(
      'latency',
      `Their latency, 99th percentile in ms: ${duration(longest ?? null)} at most`,
      hours,
      ({ latency }) =>
        latency === null
          ? [null, 'none']
          : [latency.p99, `median ${duration(latency.p50)}, longest ${duration(latency.max)}`],
    ),
  ]}</div>${isWhole ? '' : html`<p class="dim">The newest deliveries: earlier ones of the day are not drawn.</p>`}`
}

function chart(
  id: string,
  title: string,
  hours: readonly Hour[],
  measure: (hour: Hour) => readonly [value: number | null, note: string],
): Piece {
  const bars = hours.map(hour => {
    const [value, note] = measure(hour)
    return { label: new Date(hour.startMs).toISOString().slice(11, 13), value, note }
  })
  const drawing = barChart({ id, title, unit: 'count', size: 'half', height: HEIGHT, bars })
  return html`<figure class="panel"><figcaption>${title}</figcaption>${raw(drawing)}</figure>`
}
