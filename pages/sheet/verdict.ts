// The top of a fact sheet: what the snapshot says of the record in six facts, each with a link to its evidence.
import { html } from 'hono/html'
import { DAY_MS, parseIsoInstant } from '#core/calendar.ts'
import { effectiveInstant, isLongBefore } from '#core/dataset/entered.ts'
import { declarationsOf } from '#core/dataset/lineage.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { DAYS_PER_YEAR } from '#core/figures/series.ts'
import { counted, dateText, dayText, decimal, figureOf, hundredths, numberOf, whole } from '../format.ts'
import type { Markup } from '../layout.ts'
import { groupOf } from './groups.ts'
import type { SheetModel } from './model.ts'
import { badge, besideBadge, clockOf, restatementsOf } from './record.ts'

type Text = Markup | string
type Fact = readonly [label: string, fact: Text, line: Text, evidence: Text]

/** No score and no colour: a mark would be a sentence without a definition. */
export const verdictSection = (snapshot: Snapshot, strategy: StrategyData, model: SheetModel): Markup => {
  const facts = [
    enteredFact(snapshot, strategy),
    checkedFact(snapshot, strategy),
    rulesFact(snapshot, strategy),
    historyFact(snapshot, strategy),
    ['Live', 'no live record yet', link('#publication', 'this version publishes none'), ''] as const,
    lengthFact(strategy, model),
  ]
  return html`<dl class="verdict">${facts.map(
    ([label, fact, line, evidence]) => html`
<div><dt>${label}</dt><dd><strong>${fact}</strong></dd> <dd>${line}</dd> <dd>${evidence}</dd></div>`,
  )}
</dl>`
}

const link = (href: string, text: Text): Markup => html`<a href="${href}">${text}</a>`

function enteredFact({ dataset }: Snapshot, strategy: StrategyData): Fact {
  const { published_since: since, time_stamp: stamp, marking } = strategy
  if (since === null)
    return ['Entered', 'not recorded', 'by older builds', link('#record', 'what is recorded')]
  const isLate = stamp !== null && isLongBefore(since, stamp.at)
  const line = isLate
    ? `by the publisher's own clock; time-stamped by ${stamp.by} on ${dayText(stamp.at)}`
    : clockOf(strategy)
  const days = Math.floor((parseIsoInstant(effectiveInstant(dataset))! - parseIsoInstant(since)!) / DAY_MS)
  const age = days > 0 ? `${counted(days, 'day')} before this version` : 'with this version'
  const before = marking === 'reported' ? 'as reported' : 'a backtest'
  return ['Entered', dateText(since), line, link('#publication', `${age}; earlier days are ${before}`)]
}

/** The state, and beside it what no computation shows and what the operator accepts. */
function checkedFact(snapshot: Snapshot, strategy: StrategyData): Fact {
  const { marking, measured, trades } = strategy
  const { length: count } = trades.entry_time
  const fact =
    marking === 'reported'
      ? 'no return'
      : count === 0
        ? 'no closed trade'
        : measured === null
          ? 'not recorded'
          : `${whole(measured.trades_checked)} of ${counted(count, 'trade')}`
  return ['Checked', fact, badge(strategy), besideBadge(snapshot, strategy)]
}

function rulesFact({ dataset }: Snapshot, strategy: StrategyData): Fact {
  const { id, module_version, rules_since: since, rules_sha256: digest } = strategy
  if (module_version === null) {
    const source = strategy.marking === 'reported' ? 'returns' : 'a ledger'
    return ['Rules', 'not known', 'not made by a module here', link('#record', `made from ${source}`)]
  }
  const version = link('meta.json', `version ${module_version} of the module`)
  if (since === null) return ['Rules', 'not recorded', 'by older builds', version]
  const { length: count } = declarationsOf(dataset, 'same_rules', id)
  const same = count === 0 ? '' : `; files changed, declared the same ${timesOf(count)}`
  const known = digest === null ? 'digest not recorded' : html`digest <code>${digest.slice(0, 12)}</code>`
  return ['Rules', html`unchanged since ${dateText(since)}`, html`${known}${same}`, version]
}

/** Over the versions that have the strategy. */
function historyFact(snapshot: Snapshot, { id }: StrategyData): Fact {
  const { lineage } = snapshot.dataset
  const added = lineage.findLastIndex(each => each.added.includes(id))
  const own = lineage.slice(Math.max(0, added))
  const lost = own.reduce((sum, { not_compared }) => sum + not_compared.length, 0)
  const { length: restated } = restatementsOf(snapshot, id)
  const evidence = link('../../versions.html', 'what changed, version by version')
  if (own.length === 0) return ['History', 'not recorded', 'by older builds', evidence]
  const fact =
    restated > 0 ? `restated ${timesOf(restated)}` : lost > 0 ? 'not known in full' : 'never restated'
  const line = `${counted(own.length, 'version')}${lost === 0 ? '' : `; ${whole(lost)} could not be compared`}`
  return ['History', fact, line, evidence]
}

/** At base risk or at the level of the page: a share of drawn years is of a level. */
function lengthFact(strategy: StrategyData, { figures, ahead }: SheetModel): Fact {
  const { n_days: days = 0, ruin_t } = figures
  const { length: count } = strategy.trades.entry_time
  const values = { ...groupOf(strategy, 'risk_adjusted'), ...figures }
  const error = numberOf(values.sharpe_std_error)
  const sharpe = figureOf(values, ['sharpe_daily_annualized', '', hundredths])
  return [
    'Enough data?',
    `${lengthText(Number(days))}${count === 0 ? '' : `, ${counted(count, 'trade')}`}`,
    typeof ruin_t === 'string'
      ? html`ruined on ${dateText(ruin_t)}`
      : html`Sharpe ratio ${sharpe}${error === null ? '' : ` ± ${hundredths(error)}`}`,
    link('#ahead', lossYears(numberOf(ahead.below_start_probability_pct))),
  ]
}

function lossYears(share: number | null): string {
  if (share === null) return 'too short to draw a year from'
  const most = Math.round(share / 10)
  return `a losing year: ${most === 0 && share > 0 ? 'fewer than 1' : most} of 10 drawn from these days`
}

/** `8.5 years`, `20 days`. */
const lengthText = (days: number): string =>
  days === 0
    ? 'no day yet'
    : days < DAYS_PER_YEAR
      ? counted(days, 'day')
      : `${decimal(days / DAYS_PER_YEAR, 1)} years`

const timesOf = (count: number): string => (count === 1 ? 'once' : `${whole(count)} times`)
