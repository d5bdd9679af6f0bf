import { liveData } from '#core/contract/payloads/live.ts'
import { liveFigures } from '#core/figures/live-figures.ts'
import type { Snapshot, StrategyData } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { atLevel, datasetRoute, pick } from './resource.ts'
import { openSince, positionsOf } from './risk.ts'
import { noteAt, RISK_UNIT } from './risk-level.ts'

const LIVE_NOTE = `The fills are those of the replay, also of a sealed entry: only its side and its time are judged. A seal ends by the clock of the publisher, a time stamp, as the publisher states, by that of its authority. ${RISK_UNIT}`

const NO_RECORD = { bar_minutes: null, events: [], signals: [] }

export const live = datasetRoute({
  id: 'live',
  path: '/v1/strategies/{sid}/live',
  title: 'Live record',
  about: 'What was sealed while the strategy was live, beside the record, at any risk level.',
  parameters: ['risk_pct'],
  data: liveData,
  handler: atLevel(LIVE_NOTE, ({ strategy, level, factor: k }, snapshot) => {
    const block = liveFigures({ ...liveInput(snapshot, strategy), k })
    const { seals, synthetic } = snapshot.dataset
    const record = pick(strategy.live ?? NO_RECORD, 'bar_minutes', 'events', 'signals')
    const note = synthetic ? noteAt(level, `The live trading is simulated. ${LIVE_NOTE}`) : undefined
    const never =
      block.values.live_since === null
        ? `${strategy.id} has no live record: no live signal of it is opened.`
        : note
    return {
      data: { ...publishFigures(block.values), ...record, seals, undefined: block.undefined },
      meta: { note: never },
    }
  }),
})

/** What `liveFigures` reads of a strategy, beside the factor. */
export const liveInput = ({ dataset: { seals } }: Pick<Snapshot, 'dataset'>, strategy: StrategyData) => ({
  ...pick(strategy, 'daily', 'live'),
  ...{ trades: positionsOf(strategy), open_since: openSince(strategy) },
  ...{ opened_to: seals?.opened_to ?? null, gaps: seals?.gaps ?? [] },
})
