// A line as small as a word, for the rows of a table.
import { extent } from 'd3-array'
import { logarithmicScale } from './axes.ts'
import { pathText, runsOf } from './path.ts'

const [WIDTH, HEIGHT] = [160, 32]

/**
 * An `svg` element with equity on a logarithmic scale, in whole units: half a kilobyte for any number of `values`. It has no name,
 * because the figures of its row say the same.
 */
export function sparkline(values: Float64Array): string {
  const known = values.map(value => (Number.isFinite(value) ? value : Number.NaN))
  const [low = 1, high = 1] = extent(known, value => (value > 0 ? value : Number.NaN))
  const { y } = logarithmicScale(low, high, { left: 2, right: WIDTH - 2, top: 2, bottom: HEIGHT - 2 })
  const step = (WIDTH - 4) / Math.max(values.length - 1, 1)
  const path = runsOf(known, i => 2 + i * step, y, 3)
    .map(pathText)
    .join('')
  return `<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><path class="line main" d="${path}"/></svg>`
}
