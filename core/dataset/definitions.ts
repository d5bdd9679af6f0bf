import type { DefinitionChange } from '#core/contract/payloads/changes.ts'

/**
 * Every figure whose definition changed since the first release, oldest first, with the revision of the method since which it
 * holds. The number of the last revision is in each snapshot, so that the first version made under a new definition announces
 * it in `changes.json`. Add a row with a new revision whenever the same data give another value of a published figure.
 */
const REVISED: readonly (DefinitionChange & { readonly revision: number })[] = [
  {
    revision: 4,
    figure: 'published_since; stats: fund_dd/since_publication',
    from: 'the name of the first version with this history',
    to: 'the same, or the instant at which that version was entered if its name is more than 36 hours older',
    why: 'A version may have any earlier name; its entry in the log may not.',
  },
  {
    revision: 4,
    figure: 'strategies: verification_state',
    from: '`single_verified` or `dual_verified` also without a closed trade',
    to: '`unverified` while no closed trade was checked',
    why: 'An empty ledger had a badge although there was nothing to check.',
  },
  {
    revision: 4,
    figure:
      'Sharpe and Sortino ratios and what is made of them, kelly_leverage, kelly_fraction, alpha_annualized_pct, trades_per_year',
    from: 'of two days, weeks or months, or more',
    to: 'of 90 days, 26 complete weeks or 6 complete months, or more; null below (`too_few_points`)',
    why: 'Annualising multiplies the luck of a few days: a record of 20 days had a Sharpe ratio of 9.',
  },
]

export const METHOD_REVISION = Math.max(...REVISED.map(({ revision }) => revision))

export const definitionsSince = (revision: number): DefinitionChange[] =>
  REVISED.filter(each => each.revision > revision).map(({ revision: _, ...change }) => change)
