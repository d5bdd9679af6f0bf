import type { Bars } from '#core/replay/bars.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { handBars, type Ohlc } from './hand.ts'

/**
 * 4-hour bars of a market that has trends, quiet and stormy times, and an outage of seven bars now and then:
 * enough for every reference strategy to trade on both sides.
 */
export function syntheticBars(count: number, seed = 20_200_101): Bars {
  const { uniform: random } = createRandom(seed)
  const rows: (Ohlc | null)[] = []
  let close = 10_000
  let trend = 0
  let volatility = 0.01
  while (rows.length < count) {
    if (random() < 0.002) rows.push(null, null, null, null, null, null, null)
    if (random() < 0.01) trend = (random() - 0.5) * 0.008
    volatility = Math.min(0.03, Math.max(0.004, volatility * (1 + (random() - 0.5) * 0.2)))
    const open = close * (1 + (random() - 0.5) * 0.001)
    close = open * Math.exp(trend + (random() + random() + random() - 1.5) * volatility * 2)
    const high = Math.max(open, close) * (1 + random() * volatility * 0.6)
    const low = Math.min(open, close) * (1 - random() * volatility * 0.6)
    rows.push([open, high, low, close])
  }
  return handBars(rows)
}
