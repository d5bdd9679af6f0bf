import { datasetData } from '#core/contract/payloads/dataset.ts'
import { effectiveInstant } from '../entered.ts'
import { basisOf } from '../snapshot.ts'
import { datasetRoute, pick } from './resource.ts'

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
      ...pick(dataset, 'accepted_findings', 'stress_periods', 'removed'),
      strategies: strategies.map(strategy => ({
        ...pick(strategy, 'id', 'name'),
        basis: basisOf(strategy),
        verification_state: strategy.verification_state,
      })),
    },
    meta: {},
  }),
})
