import { z } from 'zod'
import { dateWindow, strategyId } from '#core/contract/payloads/field.ts'
import { BASES, removedStrategies, VERIFICATION_STATES } from '#core/contract/payloads/strategy.ts'
import { effectiveInstant } from '../entered.ts'
import { basisOf, INTERVAL_BASES } from '../snapshot.ts'
import { datasetRoute } from './resource.ts'

export const datasetData = () =>
  z
    .looseObject({
      version: z.string().describe('The dataset version, a UTC instant.'),
      generated_utc: z
        .string()
        .describe(
          'When the version was made: the same instant, unless it was entered later than its name says.',
        ),
      entered: z
        .string()
        .nullable()
        .describe(
          'When its build began, if its name is more than 36 hours older; null where the name is the truth.',
        ),
      history_restated: z
        .boolean()
        .describe('Whether this version alters history that the one before had published.'),
      name: z.string().describe('Display name of the service.'),
      window: dateWindow('Earliest and latest day of any series.'),
      strategy_count: z.int().describe('Strategies in the dataset.'),
      engine: z.string().describe('What computed the history.'),
      data_source: z.string().describe('Where the prices come from.'),
      methodology_url: z.string().describe('Where the method is described.'),
      embargo_days: z
        .int()
        .describe('Days by which the published window ends before the last complete day of the data.'),
      funding: z
        .array(
          z.looseObject({
            instrument: z.string().describe('Identifier of the perpetual contract.'),
            from: z.string().nullable().describe('UTC instant of the first payment; null without funding.'),
            to: z.string().nullable().describe('UTC instant of the last payment in the window.'),
            payments: z
              .int()
              .describe(
                'Payments up to the end of the window; none if the operator states that the instrument has no funding.',
              ),
            gaps: z.int().describe('Places at which payments are missing; positions there are charged none.'),
            longest_gap_hours: z
              .number()
              .nullable()
              .describe('The longest of them. Hours; null without a gap.'),
            payments_missing: z
              .int()
              .nullable()
              .describe('Payments that are due in the gaps; null in versions that did not record it.'),
            interval_basis: z
              .enum(INTERVAL_BASES)
              .nullable()
              .describe(
                '`stated` by the operator, or `inferred` as the finest interval of the payments; null without funding, ' +
                  'and in versions that did not record it.',
              ),
            intervals: z
              .array(
                z.looseObject({
                  from: z
                    .string()
                    .nullable()
                    .describe('UTC instant of the payment after which it holds; null for the first.'),
                  hours: z.number().describe('Hours between two payments.'),
                }),
              )
              .describe('How often payments are due, in order of time.'),
          }),
        )
        .describe('How far the funding rates reach that positions are charged, for each instrument.'),
      accepted_findings: z
        .array(
          z.looseObject({
            finding: z.string().describe('What kind of finding.'),
            of: z.string().describe('The bars, as instrument and timeframe, or the id of a strategy.'),
            from: z.string().describe('UTC instant of the first bar, trade or day that it concerns.'),
            to: z.string().describe('UTC instant of the last.'),
            count: z.int().describe('How many bars, trades or days.'),
            what: z.string().describe('What was expected and what was found.'),
            reason: z.string().describe('Why the operator accepts it.'),
            strategies: z.array(strategyId).describe('Strategies whose history is made from these data.'),
          }),
        )
        .describe(
          'Serious findings in the data and in records, such as long gaps or no losing trade, that the operator publishes with a reason.',
        ),
      removed: removedStrategies(),
      strategies: z
        .array(
          z.looseObject({
            id: strategyId,
            name: z.string().describe('Display name.'),
            basis: z.enum(BASES).describe('How the history came about.'),
            verification_state: z.enum(VERIFICATION_STATES).describe('Depth of the internal validation.'),
          }),
        )
        .describe('The strategies, in catalogue order.'),
    })
    .describe('What the dataset is made of.')
    .meta({ id: 'Dataset' })

export const dataset = datasetRoute({
  id: 'dataset',
  path: '/v1/dataset',
  title: 'Dataset',
  about: 'What the dataset is made of and which version it is.',
  isRiskFree: true,
  data: datasetData,
  handler: snapshot => {
    const { version, name, window, engine, data_source, methodology_url } = snapshot.dataset
    const { embargo_days, history_restated, funding, accepted_findings, removed } = snapshot.dataset
    return {
      data: {
        version,
        generated_utc: effectiveInstant(snapshot.dataset),
        entered: snapshot.dataset.entered,
        history_restated,
        name,
        window,
        strategy_count: snapshot.strategies.length,
        engine,
        data_source,
        methodology_url,
        embargo_days,
        funding,
        accepted_findings,
        removed,
        strategies: snapshot.strategies.map(strategy => ({
          id: strategy.id,
          name: strategy.name,
          basis: basisOf(strategy),
          verification_state: strategy.verification_state,
        })),
      },
      meta: {},
    }
  },
})
