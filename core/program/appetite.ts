// What a rule wants, apart from the money: which fraction of its cash a tier would spend at each bar. It depends on the
// closes and the pauses alone, neither on the cadence nor on the equity, so one answer serves every simulation.
import type { Outlook } from './outlook.ts'
import type { TierRule } from './program.ts'
import { dipAppetite } from './rules/dips.ts'
import { mayerAppetite } from './rules/mayer.ts'

export type Appetite = {
  /** Whether the rule buys on contribution bars alone, or on whatever bar it likes. */
  readonly on_contributions: boolean
  /** For each bar of the window that has happened: the fraction of the tier's cash to spend at its close, 0 to 1. */
  readonly fraction: Float64Array
}

/** The appetite of a rule. O(n). */
export function appetite(rule: TierRule, outlook: Outlook): Appetite {
  switch (rule.kind) {
    case 'always':
      return { on_contributions: true, fraction: exceptPaused(outlook, allOf(outlook)) }
    case 'mayer':
      return { on_contributions: true, fraction: exceptPaused(outlook, mayerAppetite(rule, outlook)) }
    case 'dips':
      // It minds the pauses itself, because they decide which steps count as touched.
      return { on_contributions: false, fraction: dipAppetite(rule, outlook) }
  }
}

const allOf = ({ closes, first }: Outlook): Float64Array => new Float64Array(closes.length - first).fill(1)

function exceptPaused({ paused }: Outlook, fraction: Float64Array): Float64Array {
  for (let bar = 0; bar < fraction.length; bar++) if (paused[bar] === 1) fraction[bar] = 0
  return fraction
}
