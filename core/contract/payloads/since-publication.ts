// The group `since_publication` of `fund_dd`: the history before and after it was first published.
import { z } from 'zod'
import { convention, countOrNull, type NullRule, pct, ratioOrNull } from './figure-rule.ts'

const part = (which: string, also: NullRule) => {
  const nulls: NullRule = ['not_published', 'too_few_points', ...also]
  const ratioNulls: NullRule = ['not_published', 'too_few_points', 'ruin']
  return z
    .looseObject({
      net_return_pct: pct('Net return of these days.', '100 × (P_n - 1)', nulls),
      cagr_pct: pct('Compound annual growth rate of these days.', '100 × (P_n^(365 / n) - 1)', [
        'not_published',
        ...also,
        'less_than_one_year',
      ]),
      max_drawdown_pct: pct(
        'Deepest fall from a peak of these days.',
        '100 × min(P_i / max(P_0 … P_(i-1)) - 1, 0)',
        nulls,
      ),
      sharpe_daily_annualized: ratioOrNull('Sharpe ratio of these days.', 'mean(p) / sd(p) × √365', [
        ...ratioNulls,
        'zero_variance',
      ]),
      volatility_annualized_pct: pct('Volatility of these days.', '100 × sd(p) × √365', ratioNulls),
    })
    .describe(which)
}

export const sincePublication = () =>
  z
    .looseObject({
      published_since: z
        .string()
        .nullable()
        .describe('The first version with this history, the same as in `/v1/strategies/{sid}`.'),
      days_before: countOrNull('Days up to and including the day of that version.', 'n', ['not_published']),
      days_after: countOrNull('Later days.', 'n', ['not_published']),
      before: part('The days that were known when the history was published.', []),
      after: part('The days after it: out of sample.', ['ruin']),
    })
    .describe('The history before and after it was first published.')
    .meta(
      convention(
        'p: the n daily returns of the part, as published; P: equity compounded from P_0 = 1 at its beginning. A restated ' +
          'history, another version of the module, another base risk and a gap in the publication begin a new history, ' +
          'which was known when it was published. Risk-free rate 0, 365 days a year, sample deviation (n - 1).',
      ),
    )
