// The two charts of every account: its equity, and how far it is below its peak.
import type { EpochDay } from '#core/calendar.ts'
import type { LineChart } from './line-chart.ts'

type Given = Omit<LineChart, 'y' | 'unit' | 'baseline'>

/** Equities on a logarithmic axis, multiples of the equity before the first day. */
export const equityChartOf = (chart: Given): LineChart => ({
  ...chart,
  y: 'log',
  unit: 'multiple',
  baseline: 1,
})

/** Drawdowns from the day `first` on, fractions, as an area below the peak in percent. */
export const drawdownChartOf = (
  chart: Omit<Given, 'lines'>,
  name: string,
  first: EpochDay,
  depths: Float64Array,
): LineChart => ({
  ...chart,
  y: 'linear',
  unit: 'percent',
  baseline: 0,
  lines: [{ name, kind: 'under', first, values: depths.map(depth => 100 * depth) }],
})
