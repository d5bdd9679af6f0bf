// What several records of the accumulation program hold.
import { toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { PROGRAM_SCHEMA_VERSION } from '#core/contract/payloads/program.ts'
import { toPercent, toSignificant } from '#core/contract/rounding.ts'
import { cheapestQuartileShare } from '#core/program/benchmarks.ts'
import type { ProgramData, ProgramPlan, Rolling } from '#core/program/program.ts'
import type { Holding, Simulation } from '#core/program/simulate.ts'
import { endOfBars } from '#core/replay/bars.ts'

export const recordHead = ({ alias }: ProgramPlan) => ({ schema_version: PROGRAM_SCHEMA_VERSION, alias })

export const tierWeights = ({ tiers }: ProgramPlan) => tiers.map(({ tier, weight }) => ({ tier, weight }))

export function windowRecord({ plan, bars, first }: ProgramData) {
  const start = bars.c[first]
  return {
    bars: plan.timeframe,
    from: toIsoDate(plan.window.from),
    to: toIsoDate(plan.window.to),
    start_close: start === undefined ? null : toSignificant(start),
  }
}

/** The close of the newest bar, warm-up included; null if there is none. */
export const asOf = ({ bars }: ProgramData): string | null =>
  bars.t.length === 0 ? null : toIsoInstant(endOfBars(bars))

/** Dollars spent of the dollars contributed, percent; 0 before the first contribution. */
export const pctDeployed = ({ contributed, deployed }: Holding): number =>
  contributed === 0 ? 0 : toPercent((deployed / contributed) * 100)

export function quartileShare(data: ProgramData, { deployments }: Simulation): number | null {
  const share = cheapestQuartileShare(data, deployments)
  return share === null ? null : toPercent(share)
}

export const rollingRecord = (rolling: Rolling | null) =>
  rolling && {
    windows: rolling.windows,
    win_rate_pct: toPercent(rolling.win_rate * 100),
    median_pct_cheaper: toPercent(rolling.median_cheaper * 100),
  }
