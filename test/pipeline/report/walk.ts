import type { Bars } from '#core/replay/bars.ts'

const HOURS_4 = 4 * 3_600_000

/** A seeded random walk of 4-hour bars from 2024 on: they open where the one before closed, and have wicks and volume. */
export function walk(count: number, timeframeMs = HOURS_4): Bars {
  const column = () => new Float64Array(count)
  const [t, o, h, l, c, v] = [column(), column(), column(), column(), column(), column()]
  let seed = 1
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  let price = 10_000
  for (let i = 0; i < count; i++) {
    t[i] = Date.parse('2024-01-01T00:00:00Z') + i * timeframeMs
    o[i] = price
    price *= 1 + 0.02 * (random() - 0.5)
    c[i] = price
    h[i] = Math.max(o[i]!, price) * (1 + 0.005 * random())
    l[i] = Math.min(o[i]!, price) * (1 - 0.005 * random())
    v[i] = 10 + random()
  }
  return { timeframeMs, t, o, h, l, c, v }
}
