import { liveData } from '#core/contract/payloads/live.ts'
import { liveFigures } from '#core/figures/live-figures.ts'
import type { Snapshot, StrategyData } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { datasetRoute, pick, strategyAtLevel } from './resource.ts'
import { openSince, positionsOf } from './risk.ts'
import { compounded, noteAt, RISK_UNIT, seriesRiskMeta } from './risk-level.ts'

const LIVE_NOTE = `The fills are those of the replay, also of a sealed entry: only its side and its time are judged. A seal ends by the clock of the publisher, a time stamp, as the publisher states, by that of its authority. ${RISK_UNIT}`

const NO_RECORD = { bar_minutes: null, events: [], signals: [] }

export const live = datasetRoute({
  id: 'live',
  path: '/v1/strategies/{sid}/live',
  title: 'Live record',
  about: 'What was sealed while the strategy was live, beside the record, at any risk level.',
  parameters: ['risk_pct'],
  data: liveData,
  example: { path: '/v1/strategies/ash/live' },
  handler: (snapshot, params) => {
    const { strategy, level, factor: k } = strategyAtLevel(snapshot, params)
    const input = { ...liveInput(snapshot, strategy), k }
    const block = compounded(strategy, level, () => liveFigures(input))
    const { id, base_risk_pct } = strategy
    const { seals, synthetic } = snapshot.dataset
    const record = pick(strategy.live ?? NO_RECORD, 'bar_minutes', 'events', 'signals')
    const note = noteAt(level, synthetic ? `The live trading is simulated. ${LIVE_NOTE}` : LIVE_NOTE)
    const never =
      block.values.live_since === null ? `${id} has no live record: no live signal of it is opened.` : null
    return {
      data: { ...publishFigures(block.values), ...record, seals, undefined: block.undefined },
      meta: { ...seriesRiskMeta(level, base_risk_pct), note: never ?? note },
    }
  },
})

/** What `liveFigures` reads of a strategy, beside the factor. */
export const liveInput = ({ dataset: { seals } }: Pick<Snapshot, 'dataset'>, strategy: StrategyData) => ({
  ...pick(strategy, 'daily', 'live'),
  ...{ trades: positionsOf(strategy), open_since: openSince(strategy) },
  ...{ opened_to: seals?.opened_to ?? null, gaps: seals?.gaps ?? [] },
})
