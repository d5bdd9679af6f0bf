import type { DefinitionChange } from '#core/contract/payloads/changes.ts'

/** A definition that changed, and the revision of the method since which it holds. */
type Revised = DefinitionChange & { readonly revision: number }

/**
 * Every figure whose definition changed, oldest first. The number of the last revision is in each snapshot, so that the
 * first version made under a new definition announces it in `changes.json`. Add a row with a new revision whenever the
 * same data give another value of a published figure.
 */
const REVISED: readonly Revised[] = [
  {
    revision: 2,
    figure: 'returns of ledgers and modules',
    from: 'quotients of the equity since the start',
    to: 'the same, in units of the equity at the last entry or exit',
    why: 'A trade that changed years before could change the tenth digit of a return; equal trades now give equal bits.',
  },
  {
    revision: 2,
    figure: 'summary: equal_weight_book',
    from: 'the mean of all strategies, over the days that all have',
    to: 'on each day the mean of the strategies alive on it, from the first to the last day of any strategy',
    why: 'One strategy that ended before the others began left a book without days.',
  },
  {
    revision: 2,
    figure: 'summary: mean_pairwise_correlation, diversification',
    from: 'over the strategies that have a correlation with every other one',
    to: 'over the pairs that have a correlation',
    why: 'One strategy that shared no days with the others left no effective bets.',
  },
  {
    revision: 2,
    figure: 'stats: fund_dd/drawdowns/average_depth_pct, average_underwater_days',
    from: 'over all drawdowns',
    to: 'over the drawdowns of two days or more, which lasting_count counts',
    why: 'Dips of one day hid how deep and long the others are.',
  },
  {
    revision: 2,
    figure: 'stats: fund_dd/exposure, all but active_days_pct',
    from: 'of the closed trades',
    to: 'of the closed trades and of the positions that are open at the end',
    why: 'The open position is in the returns and the curve.',
  },
  {
    revision: 2,
    figure: 'trades: entry_price, exit_price',
    from: 'rounded to the decimals of the tick',
    to: 'rounded to the nearest multiple of the tick',
    why: 'A tick of 0.25 has prices such as 100.25 and none such as 100.13.',
  },
  {
    revision: 2,
    figure: 'strategies: verification_state',
    from: '`single_verified` if the fills of a ledger are possible',
    to: 'the same, if the result of every trade can be recomputed too, and `unverified` otherwise; `dual_verified` only if funding is known for 99 % of the time of the positions',
    why: 'A result that nothing recomputes is a claim: its leverage may be missing, or funding while it was open.',
  },
  {
    revision: 2,
    figure: 'strategies: tv_status',
    from: 'as the catalogue states',
    to: 'as the build finds by comparing the trades with the export of a charting tool, for each version of a module',
    why: 'A typed status needed no evidence, and survived a new version of its module.',
  },
  {
    revision: 2,
    figure: 'meta: basis',
    from: '`backtested` in every answer',
    to: '`backtested`, `reported` or `mixed`, by the strategies of the answer, and `live` for signals of the live log',
    why: 'Returns as reported are not backtested by this service.',
  },
  {
    revision: 2,
    figure: 'program: the mark of a basket',
    from: 'the last close of its window',
    to: 'the newest close',
    why: 'The basket of a completed program is still held, and its value moves with the market.',
  },
  {
    revision: 3,
    figure: 'all figures of returns: stats, correlations, equal_weight_book, diversification',
    from: 'of daily returns in full precision',
    to: 'of daily and weekly returns as published, with ten significant digits',
    why: 'Anyone who downloads the returns can compute every published digit of a figure.',
  },
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

/** The method by which this program computes figures. Snapshots without a number were made by the first. */
export const METHOD_REVISION = Math.max(...REVISED.map(({ revision }) => revision))

export const definitionsSince = (revision: number): DefinitionChange[] =>
  REVISED.filter(each => each.revision > revision).map(({ revision: _, ...change }) => change)
