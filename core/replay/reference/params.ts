export const FOUR_HOURS_MS = 4 * 3_600_000

/** What every strategy of this folder can be told, beside the figures of its own rule. */
export type CommonParams = {
  /** The alias under which it is published: never a word about the rule. */
  readonly id: string
  readonly timeframeMs?: number
  /** Fraction of equity lost when the stop is hit. */
  readonly baseRisk?: number
}
