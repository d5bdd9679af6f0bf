// Payload of `/v1/dataset`, and what of it is stored in a snapshot.
import { z } from 'zod'
import {
  dateWindow,
  flag,
  isoDate,
  list,
  number,
  numberOrNull,
  record,
  records,
  strategyId,
  text,
  textOrNull,
  type ValueOf,
  whole,
  wholeOrNull,
  word,
} from './field.ts'
import { BASES, removedStrategies, VERIFICATION_STATES } from './strategy.ts'

export const datasetData = () =>
  record('What the dataset is made of.', {
    version: text('The dataset version, a UTC instant.'),
    generated_utc: text(
      'When the version was made: the same instant, unless it was entered later than its name says.',
    ),
    entered: textOrNull(
      'When its build began, if its name is more than 36 hours older; null where the name is the truth.',
    ),
    history_restated: flag('Whether this version alters history that the one before had published.'),
    name: text('Display name of the service.'),
    window: dateWindow('Earliest and latest day of any series.'),
    strategy_count: whole('Strategies in the dataset.'),
    engine: text('What computed the history.'),
    data_source: text('Where the prices come from.'),
    methodology_url: text('Where the method is described.'),
    embargo_days: whole('Days by which the published window ends before the last complete day of the data.'),
    funding: records('How far the funding rates reach that positions are charged, for each instrument.', {
      instrument: text('Identifier of the perpetual contract.'),
      from: textOrNull('UTC instant of the first payment; null without funding.'),
      to: textOrNull('UTC instant of the last payment in the window.'),
      payments: whole(
        'Payments up to the end of the window; none if the operator states that the instrument has no funding.',
      ),
      gaps: whole('Places at which payments are missing; positions there are charged none.'),
      longest_gap_hours: numberOrNull('The longest of them. Hours; null without a gap.'),
      payments_missing: wholeOrNull(
        'Payments that are due in the gaps; null in versions that did not record it.',
      ),
      interval_basis: z
        .enum(['stated', 'inferred'])
        .nullable()
        .describe(
          '`stated` by the operator, or `inferred` as the finest interval of the payments; null without funding, ' +
            'and in versions that did not record it.',
        ),
      intervals: records('How often payments are due, in order of time.', {
        from: textOrNull('UTC instant of the payment after which it holds; null for the first.'),
        hours: number('Hours between two payments.'),
      }),
    }),
    accepted_findings: records(
      'Serious findings in the data and in records, such as long gaps or no losing trade, that the operator publishes with a reason.',
      {
        finding: text('What kind of finding.'),
        of: text('The bars, as instrument and timeframe, or the id of a strategy.'),
        from: text('UTC instant of the first bar, trade or day that it concerns.'),
        to: text('UTC instant of the last.'),
        count: whole('How many bars, trades or days.'),
        what: text('What was expected and what was found.'),
        reason: text('Why the operator accepts it.'),
        strategies: list('Strategies whose history is made from these data.', strategyId),
      },
    ),
    stress_periods: records(
      'Periods that the publisher names: `/risk` has the result of each strategy in them.',
      {
        name: text('Its name.'),
        from: isoDate('First UTC day, inclusive.'),
        to: isoDate('Last UTC day, inclusive.'),
      },
    ),
    removed: removedStrategies(),
    strategies: records('The strategies, in catalogue order.', {
      id: strategyId,
      name: text('Display name.'),
      basis: word('How the history came about.', BASES),
      verification_state: word('Depth of the internal validation.', VERIFICATION_STATES),
    }),
  }).meta({ id: 'Dataset' })

export type DatasetPayload = ValueOf<ReturnType<typeof datasetData>>

/** Instants in ISO 8601, null without a payment. */
export type FundingCoverage = DatasetPayload['funding'][number]

export type AcceptedFinding = DatasetPayload['accepted_findings'][number]
