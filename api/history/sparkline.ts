import { raw } from 'hono/html'
import { equityCurve } from '#core/figures/equity-curve.ts'

const WIDTH = 160
const HEIGHT = 32

/** A point each two pixels: more cannot be seen. */
const POINTS = WIDTH / 2

/** Room for half the stroke at the edges. */
const MARGIN = 1

/** The equity curve of daily returns as a small SVG on a logarithmic scale, with a line at the opening equity. */
export function sparkline(daily: Float64Array) {
  const logs = thin(equityCurve(daily)).map(equity => Math.log(Math.max(equity, 1e-6))) // a ruined account has no logarithm
  const low = Math.min(0, ...logs)
  const high = Math.max(0, ...logs)
  const y = (value: number): string => {
    const share = high === low ? 0.5 : (value - low) / (high - low)
    return (HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)).toFixed(1)
  }
  const x = (i: number): string => ((i / Math.max(logs.length - 1, 1)) * WIDTH).toFixed(1)
  const path = logs.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(value)}`).join('')
  return raw(
    `<svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">` +
      `<line x1="0" x2="${WIDTH}" y1="${y(0)}" y2="${y(0)}"/><path d="${path}"/></svg>`,
  )
}

/** At most `POINTS` values, evenly spread, the first and the last among them. */
function thin(values: Float64Array): number[] {
  const count = Math.min(POINTS, values.length)
  return Array.from(
    { length: count },
    (_, i) => values[Math.round((i * (values.length - 1)) / Math.max(count - 1, 1))]!,
  )
}
