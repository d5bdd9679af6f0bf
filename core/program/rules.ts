// The appetite of a rule: the fraction of its cash that a tier would spend at each bar. It depends on the
// closes and pauses alone, neither on the cadence nor on the equity, so every simulation can share it.
import { toEpochDay } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import { barsPerDay, isPausedOn, type ProgramData, type ProgramPlan, type TierRule } from './program.ts'

export type Appetite = {
  /** Whether the rule buys only on contribution bars, or on any bar. */
  readonly on_contributions: boolean
  /** For each past bar of the window: the fraction of the tier's cash to spend at its close, 0 to 1. */
  readonly fraction: Float64Array
}

export function appetite(rule: TierRule, outlook: Outlook): Appetite {
  // It handles pauses itself, because they affect which steps count as touched.
  if (rule.kind === 'dips') return { on_contributions: false, fraction: dipAppetite(rule, outlook) }
  const { closes, first } = outlook
  const fraction =
    rule.kind === 'mayer' ? mayerAppetite(rule, outlook) : new Float64Array(closes.length - first).fill(1)
  return { on_contributions: true, fraction: exceptPaused(outlook, fraction) }
}

function exceptPaused({ paused }: Outlook, fraction: Float64Array): Float64Array {
  for (let bar = 0; bar < fraction.length; bar++) if (paused[bar] === 1) fraction[bar] = 0
  return fraction
}

type Outlook = ReturnType<typeof outlookOf>

/** The data that a rule may use: the closes of the warm-up and of the window so far, and its pauses. */
export const outlookOf = ({ plan, bars, first }: ProgramData) => ({
  closes: bars.c,
  first,
  bars_per_day: barsPerDay(bars.timeframeMs),
  paused: pausedBars(plan.paused, bars, first),
})

/** For each bar from `first` on: 1 if the program is paused, otherwise 0. */
function pausedBars(spans: ProgramPlan['paused'], { t }: Bars, first: number): Uint8Array {
  const paused = new Uint8Array(t.length - first)
  if (spans.length === 0) return paused
  for (let i = 0; i < paused.length; i++) paused[i] = isPausedOn(spans, toEpochDay(t[first + i]!)) ? 1 : 0
  return paused
}

type MayerRule = Extract<TierRule, { kind: 'mayer' }>

/**
 * The appetite by the Mayer multiple: the close over the mean of the last `mean_days` days of closes,
 * including the bar's own. The first band strictly above the multiple decides; above all bands, and if there
 * are too few bars for a mean, the appetite is 0.
 *
 * Source: the ratio of the price to its 200-day moving average that Trace Mayer proposed for bitcoin.
 */
function mayerAppetite(rule: MayerRule, { closes, first, bars_per_day }: Outlook): Float64Array {
  const means = trailingMean(closes, rule.mean_days * bars_per_day)
  const fraction = new Float64Array(closes.length - first)
  for (let bar = 0; bar < fraction.length; bar++) {
    fraction[bar] = spendAt(rule, closes[first + bar]! / means[first + bar]!)
  }
  return fraction
}

/** A NaN multiple, without a mean, is below no band. */
function spendAt({ bands }: MayerRule, multiple: number): number {
  for (let i = 0; i < bands.length; i++) if (multiple < bands[i]!.below) return bands[i]!.spend
  return 0
}

/**
 * Mean of the last `length` values, including the one at the index; NaN if there are fewer.
 *
 * A running sum, O(n) for any length. The error of each addition is kept with the sum (Neumaier's
 * compensation), because a plain running sum drifts: after years of bars the mean of equal prices would not
 * be that price, and a multiple of exactly 1 would fall on a random side of its band.
 *
 * @param length at least 1
 */
export function trailingMean(values: Float64Array, length: number): Float64Array {
  const means = new Float64Array(values.length).fill(Number.NaN)
  const sum: CompensatedSum = { value: 0, lost: 0 }
  for (let i = 0; i < values.length; i++) {
    add(sum, values[i]!)
    if (i >= length) add(sum, -values[i - length]!)
    if (i >= length - 1) means[i] = (sum.value + sum.lost) / length
  }
  return means
}

type CompensatedSum = { value: number; lost: number }

/**
 * The larger of the two addends keeps all its digits, so those that the smaller one lost can be recovered
 * exactly.
 */
function add(sum: CompensatedSum, addend: number): void {
  const next = sum.value + addend
  sum.lost += Math.abs(sum.value) >= Math.abs(addend) ? sum.value - next + addend : addend - next + sum.value
  sum.value = next
}

type DipRule = Extract<TierRule, { kind: 'dips' }>

/**
 * The appetite for falls: the spend of the deepest step that a close touches for the first time since the
 * last new high.
 *
 * The high is the highest close so far, counted from the first warm-up bar. A step `d` is touched by a close
 * at or below `high x (1 - d)`. Depths ascend, so a close that touches a step touches all shallower ones too,
 * and the state is the number of touched steps. It is 0 when the window begins and at every close above the
 * high.
 *
 * In a pause the high still rises and resets the steps, but no step counts as touched: the first bar after
 * the pause is like any other.
 */
export function dipAppetite(rule: DipRule, { closes, first, paused }: Outlook): Float64Array {
  const fraction = new Float64Array(closes.length - first)
  let high = 0 // below every price
  for (let i = 0; i < first; i++) if (closes[i]! > high) high = closes[i]!
  let touched = 0
  for (let bar = 0; bar < fraction.length; bar++) {
    const close = closes[first + bar]!
    if (close > high) {
      high = close
      touched = 0
    }
    const reached = stepsReached(rule, close, high)
    if (paused[bar] === 1 || reached <= touched) continue
    fraction[bar] = rule.steps[reached - 1]!.spend
    touched = reached
  }
  return fraction
}

/** Number of steps at or above the close. It compares prices, because 1 - 80 / 100 is less than 0.2. */
function stepsReached({ steps }: DipRule, close: number, high: number): number {
  let reached = 0
  while (reached < steps.length && close <= high * (1 - steps[reached]!.drawdown)) reached++
  return reached
}
