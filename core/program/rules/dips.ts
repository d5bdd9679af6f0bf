import type { Outlook } from '../outlook.ts'
import type { TierRule } from '../program.ts'

type DipRule = Extract<TierRule, { kind: 'dips' }>

/**
 * The appetite for falls: what the deepest step spends that a close touches for the first time since the last new high.
 *
 * The high is the highest close so far, known from the first warm-up bar. A step `d` is touched by a close at or below
 * `high x (1 - d)`. Depths ascend, so a close that touches a step touches all shallower ones as well, and how many are
 * touched is all that has to be remembered. It is 0 when the window begins, and again at every close above the high.
 *
 * In a pause the high moves on, and a new one arms the steps, but no step counts as touched: the first bar after it is
 * looked at as any other.
 */
export function dipAppetite(rule: DipRule, { closes, first, paused }: Outlook): Float64Array {
  const fraction = new Float64Array(closes.length - first)
  let high = highest(closes, first)
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

/** The highest of the first `count` values; 0, below every price, where there are none. */
function highest(values: Float64Array, count: number): number {
  let high = 0
  for (let i = 0; i < count; i++) if (values[i]! > high) high = values[i]!
  return high
}

/** How many steps lie at or above the close. Told by the price of the step: 1 - 80 / 100 is a little less than 0.2. */
function stepsReached({ steps }: DipRule, close: number, high: number): number {
  let reached = 0
  while (reached < steps.length && close <= high * (1 - steps[reached]!.drawdown)) reached++
  return reached
}
