import {
  dateWindow,
  flag,
  record,
  records,
  strategyId,
  text,
  textOrNull,
  whole,
  word,
} from '#core/contract/payloads/field.ts'
import {
  BASES,
  findingFields,
  fundingFields,
  removedStrategies,
  VERIFICATION_STATES,
} from '#core/contract/payloads/strategy.ts'
import { effectiveInstant } from '../entered.ts'
import { basisOf } from '../snapshot.ts'
import { datasetRoute, pick } from './resource.ts'

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
    funding: records(
      'How far the funding rates reach that positions are charged, for each instrument.',
      fundingFields(),
    ),
    accepted_findings: records(
      'Serious findings in the data and in records, such as long gaps or no losing trade, that the operator publishes with a reason.',
      findingFields(),
    ),
    removed: removedStrategies(),
    strategies: records('The strategies, in catalogue order.', {
      id: strategyId,
      name: text('Display name.'),
      basis: word('How the history came about.', BASES),
      verification_state: word('Depth of the internal validation.', VERIFICATION_STATES),
    }),
  }).meta({ id: 'Dataset' })

export const dataset = datasetRoute({
  id: 'dataset',
  path: '/v1/dataset',
  title: 'Dataset',
  about: 'What the dataset is made of and which version it is.',
  isRiskFree: true,
  data: datasetData,
  handler: ({ dataset, strategies }) => ({
    data: {
      version: dataset.version,
      generated_utc: effectiveInstant(dataset),
      ...pick(dataset, 'entered', 'history_restated', 'name', 'window'),
      strategy_count: strategies.length,
      ...pick(dataset, 'engine', 'data_source', 'methodology_url', 'embargo_days', 'funding'),
      ...pick(dataset, 'accepted_findings', 'removed'),
      strategies: strategies.map(strategy => ({
        ...pick(strategy, 'id', 'name'),
        basis: basisOf(strategy),
        verification_state: strategy.verification_state,
      })),
    },
    meta: {},
  }),
})
