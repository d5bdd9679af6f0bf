// The top of a fact sheet: what the snapshot says of the record in six facts, each with a link to its evidence.
import { html } from 'hono/html'
import { DAY_MS, parseIsoInstant } from '#core/calendar.ts'
import { effectiveInstant, isLongBefore } from '#core/dataset/entered.ts'
import { type Ancestor, declarationsOf } from '#core/dataset/lineage.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { DAYS_PER_YEAR } from '#core/figures/series.ts'
import { yearAheadFigures } from '#core/figures/year-ahead.ts'
import { counted, dateText, dayText, decimal, figureOf, hundredths, numberOf, whole } from '../format.ts'
import type { Markup } from '../layout.ts'
import { groupOf } from './groups.ts'
import { clockOfSeals, entriesText, liveOf, spanOf } from './live.ts'
import type { SheetModel } from './model.ts'
import { badge, besideBadge, clockOf, formOf, kindOf } from './record.ts'

type Text = Markup | string
type Fact = readonly [label: string, fact: Text, line: Text, evidence: Text]

/** No score and no colour: a mark would be a sentence without a definition. */
export const verdictSection = (snapshot: Snapshot, strategy: StrategyData, model: SheetModel): Markup => {
  const facts = [
    enteredFact(snapshot, strategy),
    checkedFact(snapshot, strategy),
    rulesFact(snapshot, strategy),
    historyFact(snapshot, strategy),
    liveFact(snapshot, strategy),
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
  const { published_since: since, time_stamp: stamp } = strategy
  if (since === null)
    return ['Entered', 'not recorded', 'by older builds', link('#record', 'what is recorded')]
  const isLate = stamp !== null && isLongBefore(since, stamp.at)
  const line = isLate
    ? `by the publisher's own clock; time-stamped by ${stamp.by} on ${dayText(stamp.at)}`
    : clockOf(strategy)
  const days = Math.floor((parseIsoInstant(effectiveInstant(dataset))! - parseIsoInstant(since)!) / DAY_MS)
  const age = days > 0 ? `${counted(days, 'day')} before this version` : 'with this version'
  const before = kindOf(strategy) === 'backtest' ? 'are a backtest' : 'were not published as they happened'
  const words = formOf(dataset, strategy) + line
  return ['Entered', dateText(since), words, link('#publication', `${age}; earlier days ${before}`)]
}

/** The state, and beside it what no computation shows and what the operator accepts. */
function checkedFact(snapshot: Snapshot, strategy: StrategyData): Fact {
  const { marking, measured, trades } = strategy
  const { length: count } = trades.entry_time
  const fact =
    marking === 'reported'
      ? 'no return recomputed'
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
  const { length: count } = declarationsOf(dataset, 'same_rules', id).filter(({ at }) => at > since)
  const begin = dataset.lineage.findIndex(each => effectiveInstant(each) === since)
  const isDigested = digest !== null && begin >= 0 && !dataset.lineage.slice(begin).some(isUnrecorded)
  const known = digest === null ? 'digest not recorded' : html`digest <code>${digest.slice(0, 12)}</code>`
  const same = count > 0 ? 'declared the same' : isDigested ? 'same files' : 'same version'
  const words = since === effectiveInstant(dataset) ? 'entered' : `${same} since`
  const changed = count === 0 ? '' : `; files changed ${timesOf(count)}`
  return ['Rules', html`${words} ${dateText(since)}`, html`${known}${changed}`, version]
}

/** By an older release, which had no digests either. */
const isUnrecorded = ({ changed, not_compared }: Ancestor): boolean =>
  changed === null && not_compared.length === 0

/** Over the versions since the one that added the strategy last. */
function historyFact({ dataset: { lineage, removed } }: Snapshot, { id }: StrategyData): Fact {
  const evidence = link('../../versions.html', 'what changed, version by version')
  const added = lineage.findLastIndex(each => each.added.includes(id))
  const gone = lineage.findLastIndex(each => each.removed.includes(id))
  const isAdded = added > gone
  const own = lineage.slice(isAdded ? added : gone + 1)
  if (own.length === 0) return ['History', 'not recorded', 'by older builds', evidence]
  const lost = own.reduce((sum, { not_compared }) => sum + not_compared.length, 0)
  const { length: restated } = own.flatMap(each => each.restated).filter(each => each.id === id)
  const first = dateText(effectiveInstant(own[0]!))
  const isFirst = own.length === 1 && isAdded
  const isBack = removed.some(each => each.id === id)
  const known = isFirst ? (isBack ? 'added again' : 'first version') : 'no value restated'
  const fact = restated > 0 ? `restated ${timesOf(restated)}` : lost > 0 ? 'not known in full' : known
  const line = [
    isFirst ? 'nothing to compare yet' : `in ${counted(own.length, 'version')}`,
    isAdded ? '' : html`; not known before ${first}`,
    lost === 0 ? '' : `; ${whole(lost)} could not be compared`,
    own.some(isUnrecorded) ? '; other changes not recorded' : '',
    isBack ? html`; added again${isAdded ? html` on ${first}` : ''}, removed before` : '',
  ]
  return ['History', fact, html`${line}`, evidence]
}

/** From opened seals alone: without them it is not known whether anything was live. */
function liveFact(snapshot: Snapshot, strategy: StrategyData): Fact {
  const { opened_to: to = null } = snapshot.dataset.seals ?? {}
  const live = liveOf(snapshot, strategy)
  if (to === null) return ['Live', 'no live record', link('#publication', 'this version opens no seals'), '']
  const opened = link('live.json', html`in the seals up to ${dateText(to)}`)
  if (live === null) return ['Live', 'no live record', 'never live', opened]
  const line = `${live.dataset.synthetic ? 'simulated: ' : ''}${entriesText(live)}`
  return ['Live', spanOf(live), line, link('#live', clockOfSeals(live.seals))]
}

/** At base risk over all days, whatever the page shows: nothing draws the top again. */
function lengthFact(strategy: StrategyData, { level, ahead }: SheetModel): Fact {
  const { n_days: days = 0, ruin_t } = strategy.figures.values
  const { length: count } = strategy.trades.entry_time
  const { below_start_probability_pct: loss } = level === null ? ahead : yearAheadFigures(strategy.daily, 1)
  const values = { ...groupOf(strategy, 'risk_adjusted'), ...strategy.figures.values }
  const error = numberOf(values.sharpe_std_error)
  const sharpe = figureOf(values, ['sharpe_daily_annualized', '', hundredths])
  return [
    'Enough data?',
    `${lengthText(Number(days))}${count === 0 ? '' : `, ${counted(count, 'trade')}`}`,
    typeof ruin_t === 'string'
      ? html`ruined on ${dateText(ruin_t)}, at base risk`
      : html`Sharpe ratio ${sharpe}${error === null ? '' : ` ± ${hundredths(error)} (standard error)`}`,
    link('#ahead', lossYears(typeof loss === 'number' ? loss : null)),
  ]
}

function lossYears(share: number | null): string {
  if (share === null) return 'too short to draw a year from'
  const most = Math.round(share / 10)
  const known = most === 0 && share > 0 ? 'fewer than 1' : most === 10 && share < 100 ? 'more than 9' : most
  return `at base risk, all days: a losing year in ${known} of 10 drawn`
}

/** `8.5 years`, `1 year`, `20 days`. */
const lengthText = (days: number): string =>
  days === 0
    ? 'no day yet'
    : days < DAYS_PER_YEAR
      ? counted(days, 'day')
      : `${decimal(days / DAYS_PER_YEAR, 1)} years`.replace(/^1\.0 years/, '1 year')

const timesOf = (count: number): string => (count === 1 ? 'once' : `${whole(count)} times`)
