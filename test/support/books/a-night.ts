// What a night computes from bars and a module, for snapshots written by hand.
import { parseIsoDate } from '#core/calendar.ts'
import type { HandStrategy } from './hand-snapshot.ts'

/** Costs, excursions of 41 trades, and replays at 1 % and 4 % of a strategy with a return a day. */
export function aNight(first: string, returns: readonly number[]): NonNullable<HandStrategy['night']> {
  const daily = (factor: number) => ({
    period: 'daily' as const,
    first: parseIsoDate(first)!,
    values: Float64Array.from(returns, value => value * factor),
  })
  const level = (risk_pct: number, refused: number) => ({
    ...{ risk_pct, daily: daily(risk_pct * 49) },
    ...{ trade_count: 39, entries: { asked: 50, refused } },
  })
  return {
    costs: {
      trades: [{ result: 0.02, fees: 0.002, slippage: 0.001, funding: 0.0005 }],
      doubled: daily(0.9),
    },
    excursions: Array.from({ length: 41 }, (_, i) => ({ adverse: -i / 40, favourable: i / 20 })),
    replays: { entries: { asked: 40, refused: 0 }, levels: [level(0.01, 0), level(0.04, 7)] },
  }
}
