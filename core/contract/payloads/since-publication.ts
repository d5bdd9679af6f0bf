// The group `since_publication` of `fund_dd`: the history before and after it was first published.
import { z } from 'zod'
import { record, textOrNull } from './field.ts'
import { convention, countOrNull, holding, type NullRule } from './figure-rule.ts'

const part = (about: string, nulls: NullRule) =>
  z
    .looseObject(holding('these days', ['P', 'p', 'n'], ['not_published', 'too_few_points', ...nulls]))
    .describe(about)

export const sincePublication = () =>
  record('The history before and after it was first published.', {
    published_since: textOrNull(
      'Since when this history is published, the same as in `/v1/strategies/{sid}`.',
    ),
    days_before: countOrNull('Days up to and including that day.', 'n', ['not_published']),
    days_after: countOrNull('Later days.', 'n', ['not_published']),
    before: part('The days that were known when the history was published.', []),
    after: part('The days after it: out of sample if bars and trades came in as they happened.', ['ruin']),
  }).meta(
    convention(
      'p: the n daily returns of the part, as published; P: equity compounded from P_0 = 1 at its beginning. A restated ' +
        'history, another version of the module, another base risk and a gap in the publication begin a new history, ' +
        'which was known when it was published. Risk-free rate 0, 365 days a year, sample deviation (n - 1).',
    ),
  )
