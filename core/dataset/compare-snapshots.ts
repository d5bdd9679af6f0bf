import { DAY_MS, type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import {
  type Change,
  type Changes,
  type FilledGap,
  MOST_LISTED,
  type PublishedTrade,
  type RestatedTrade,
  type SeriesChanges,
  type StrategyChanges,
} from '#core/contract/payloads/changes.ts'
import { tickRounder, toPercent, toSignificant } from '#core/contract/rounding.ts'
import { dayOf, lastDay, type Series, STEP_DAYS, sliceSeries } from '#core/figures/series.ts'
import { definitionsSince } from './definitions.ts'
import { isRestated } from './restated.ts'
import { type Snapshot, type StrategyData, tradeResult, wordAt } from './snapshot.ts'

/**
 * What `after` appends to `before` and what it alters, strategy by strategy. Returns, trades, the base risk and the
 * version of a module are history; changes of figures, of their definitions and of other catalogue entries are only listed. Without a previous
 * version, everything is new.
 */
export function compareSnapshots(before: Snapshot | null, after: Snapshot): Changes {
  const isOfOneMethod = (before ?? after).dataset.method_revision === after.dataset.method_revision
  const noise = isOfOneMethod ? 0 : ARITHMETIC_NOISE
  const old = new Map(before?.strategies.map(strategy => [strategy.id, strategy]))
  const now = new Set(after.strategies.map(({ id }) => id))
  const strategies = after.strategies.flatMap(strategy => {
    const was = old.get(strategy.id)
    return was === undefined ? [] : [compareStrategy(was, strategy, noise)]
  })
  const filled = before === null ? [] : filledGaps(before, after)
  const removed = [...old.keys()].filter(id => !now.has(id))
  return {
    version: after.dataset.version,
    previous: before?.dataset.version ?? null,
    history_restated: removed.length > 0 || strategies.some(isRestated),
    added: [...now].filter(id => !old.has(id)),
    removed,
    strategies,
    dataset: before === null ? [] : compareDataset(before, after, noise),
    definitions: before === null ? [] : definitionsSince(before.dataset.method_revision),
    ...(filled.length === 0 ? {} : { filled_gaps: filled }),
  }
}

/**
 * Another order of the same operations may change a return by a few units in the last place of 1 + return, and so its
 * last published digit. Between two methods, which `definitions` announces, that is no restatement.
 */
const ARITHMETIC_NOISE = 1e-14

/** The gaps that the first dataset published as accepted and the second has bars for. */
const filledGaps = (before: Snapshot, after: Snapshot): FilledGap[] =>
  before.dataset.accepted_findings
    .filter(
      old =>
        old.finding === 'gap' &&
        !after.dataset.accepted_findings.some(
          now => now.finding === 'gap' && now.of === old.of && now.from === old.from && now.to === old.to,
        ),
    )
    .map(({ of, from, to, reason, strategies }) => ({ of, from, to, reason, strategies: [...strategies] }))

const compareStrategy = (before: StrategyData, after: StrategyData, noise: number): StrategyChanges => ({
  id: after.id,
  daily: compareSeries(before.daily, after.daily, noise),
  weekly: compareSeries(before.weekly, after.weekly, noise),
  trades: compareTrades(before, after),
  stats: changesOf(HEADLINE, before.figures.values, after.figures.values, toPercent),
  catalogue: [
    ...factChanges(factsOfStrategy(before), factsOfStrategy(after)),
    ...(noise === 0 ? undisclosedChanges(before, after) : []),
  ].filter(isRecorded),
})

/** The first digest of a module says nothing of the files before, and the first cap nothing of that before. */
const isRecorded = ({ field, old, new: now }: Change): boolean =>
  !['rules_sha256', 'max_leverage'].includes(field) || (old !== null && now !== null)

/** Facts of the dataset that differ, and the first value of each benchmark that does. */
function compareDataset(before: Snapshot, after: Snapshot, noise: number): Change[] {
  const altered = before.benchmarks.flatMap(({ instrument, daily }) => {
    const now = after.benchmarks.find(each => each.instrument === instrument)?.daily ?? daily
    // Its first days are those of the first strategy.
    const { restated, restated_count } = compareSeries(daily, sliceSeries(now, daily.first, null), noise)
    const field = `benchmark ${instrument}, other values: ${restated_count}, the first of ${restated[0]?.t}`
    return restated.slice(0, 1).map(({ old, new: value }) => ({ field, old, new: value }))
  })
  return [...factChanges(factsOfDataset(before), factsOfDataset(after)), ...altered]
}

/** Whether noise of the arithmetic before rounding explains that a value is published as `now`. */
const isNoise = (exact: number, now: number, noise: number): boolean =>
  noise > 0 && toSignificant(exact - noise) <= now && now <= toSignificant(exact + noise)

const HEADLINE = [
  'net_return_pct',
  'cagr_pct',
  'max_drawdown_pct',
  'sharpe_daily_annualized',
  'trade_count',
] as const

/** Compared value by value, or following from what is compared. Every other field is a fact: a new one is listed until it is here. */
const NO_FACTS = {
  strategy: [
    ...['id', 'figures', 'daily', 'weekly', 'trades', 'window', 'days_without_bars', 'idle_since'],
    ...['leverage_typical', 'leverage_max', 'refused_above_risk_pct', 'published_since', 'rules_since'],
    ...['time_stamp', 'measured', 'live'],
  ],
  dataset: [
    ...['version', 'window', 'funding', 'accepted_findings', 'history_restated', 'method_revision'],
    ...['lineage', 'removed', 'entered', 'stress_periods', 'seals'],
  ],
}

type Facts = { readonly [field: string]: unknown }

const factsOf = (record: object, others: readonly string[]): Facts =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([field]) => !others.includes(field))
      .map(([field, value]) => [field, typeof value === 'number' ? value : toText(value)]),
  )

/** `from 2020-01-01T00:00:00Z, gaps 0`. */
function toText(value: unknown): string | null {
  if (value === null) return null
  if (typeof value !== 'object') return String(value)
  const toPlain = (each: unknown) => (typeof each === 'string' ? each : JSON.stringify(each))
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1)) // what is read back may have another order
    .map(([name, each]) => `${name} ${toPlain(each)}`)
    .join(', ')
}

function factsOfStrategy(strategy: StrategyData): Facts {
  const { replays } = (strategy.figures.values.fund_dd ?? {}) as ReplayRows // see `replayFigures`
  const replayed_at = replays?.table?.map(({ risk_pct }) => risk_pct).join(', ') || null
  return { ...factsOf(strategy, NO_FACTS.strategy), replayed_at }
}

type ReplayRows = { readonly replays?: { readonly table?: readonly { readonly risk_pct: number }[] } }

/** Payments and days that a finding concerns may come with each day. */
const factsOfDataset = ({ dataset, benchmarks }: Snapshot): Facts => ({
  ...factsOf(dataset, NO_FACTS.dataset),
  ...Object.fromEntries([
    ...dataset.funding.map(({ instrument, to: _, payments, ...facts }) => [
      `funding of ${instrument}`,
      payments === 0 ? 'none' : toText(facts),
    ]),
    ...dataset.accepted_findings.map(({ finding, of, from, reason }) => [
      `accepted ${finding} of ${of} from ${from}`,
      reason,
    ]),
    ...dataset.stress_periods.map(({ name, from, to }) => [`stress period ${name}`, `${from} to ${to}`]),
    ...benchmarks.map(({ instrument }) => [`benchmark ${instrument}`, 'shown']),
  ]),
})

const factChanges = (before: Facts, after: Facts): Change[] =>
  changesOf(Object.keys({ ...before, ...after }), before, after, exact => exact)

/** `round` is the rounding under which numbers are published. */
function changesOf(
  fields: readonly string[],
  before: Facts,
  after: Facts,
  round: (value: number) => number,
): Change[] {
  const toPublished = (value: unknown) =>
    typeof value === 'number' ? round(value) : typeof value === 'string' ? value : null
  return fields
    .map(field => ({ field, old: toPublished(before[field]), new: toPublished(after[field]) }))
    .filter(change => change.old !== change.new)
}

/**
 * What `after` adds to `before` and what it alters, at published precision. Values after the old end are
 * appended; a value before the old start alters history too, because the equity starts there.
 */
function compareSeries(before: Series, after: Series, noise: number): SeriesChanges {
  const restated: SeriesChanges['restated'] = []
  let count = 0
  const end = before.values.length === 0 ? dayOf(after, -1) : lastDay(before)
  const starts = [before, after].filter(({ values }) => values.length > 0).map(({ first }) => first)
  // Of the same step, so the earlier start gives the grid.
  for (let day = Math.min(...starts); day <= end; day += STEP_DAYS[before.period]) {
    const exact = valueOn(before, day)
    const [old, now] = [publishedAs(exact), publishedAs(valueOn(after, day))]
    if (old === now || (now !== null && isNoise(exact, now, noise))) continue
    count++
    if (restated.length < MOST_LISTED) restated.push({ t: toIsoDate(day), old, new: now })
  }
  return { appended: appendedAfter(after, end), restated_count: count, restated }
}

const publishedAs = (value: number): number | null => (Number.isNaN(value) ? null : toSignificant(value))

/** NaN where the series has no value. */
const valueOn = (series: Series, day: EpochDay): number =>
  series.values[(day - series.first) / STEP_DAYS[series.period]] ?? Number.NaN

function appendedAfter(after: Series, end: EpochDay): SeriesChanges['appended'] {
  const { length } = after.values
  const known = Math.max(0, (end - after.first) / STEP_DAYS[after.period] + 1)
  if (known >= length) return null
  return { from: toIsoDate(dayOf(after, known)), to: toIsoDate(lastDay(after)), n: length - known }
}

/**
 * What the ledger of `after` adds and alters. A trade that closed after the old window is appended, wherever
 * it is in the order; one that appeared or disappeared before that alters history.
 */
function compareTrades(before: StrategyData, after: StrategyData): StrategyChanges['trades'] {
  const { to } = before.window
  const closed = to === null ? Number.NEGATIVE_INFINITY : (parseIsoDate(to)! + 1) * DAY_MS
  const [old, now] = [tradesByKey(before, publishedTrade), tradesByKey(after, publishedTrade)]
  const isAppended = (key: string, { exit_time }: PublishedTrade) => !old.has(key) && exit_time >= closed
  const kept = [...now].filter(([key, trade]) => !isAppended(key, trade))
  const gone = [...old].filter(([key]) => !now.has(key))
  const restated = [...kept, ...gone]
    .map(([key, trade]) => toRestated(trade, old.get(key), now.get(key)))
    .filter(({ changes }) => changes.length > 0)
    .sort((a, b) => a.exit_time - b.exit_time)
  return {
    appended: now.size - kept.length,
    restated_count: restated.length,
    restated: restated.slice(0, MOST_LISTED),
  }
}

const COMPARED = ['entry_price', 'exit_price', 'return_pct', 'result', 'exit_reason'] as const

function toRestated(
  { side, entry_time, exit_time }: PublishedTrade,
  old: PublishedTrade | undefined,
  now: PublishedTrade | undefined,
): RestatedTrade {
  const isSameTrade = old !== undefined && now !== undefined
  const changes = isSameTrade
    ? changesOf(COMPARED, old, now, exact => exact)
    : [{ field: 'trade', old: old ?? null, new: now ?? null }]
  return { side, entry_time, exit_time, changes }
}

/** Trades with the same side and times are distinguished by their order. */
function tradesByKey<Trade>(strategy: StrategyData, read: (strategy: StrategyData, row: number) => Trade) {
  const { side, entry_time, exit_time } = strategy.trades
  const byKey = new Map<string, Trade>()
  for (let row = 0; row < entry_time.length; row++) {
    const key = `${wordAt(side, row)} ${entry_time[row]} ${exit_time[row]}`
    let twin = 0
    while (byKey.has(`${key} ${twin}`)) twin++
    byKey.set(`${key} ${twin}`, read(strategy, row))
  }
  return byKey
}

/** How many trades differ in what is not published of them, and figures follow from. */
function undisclosedChanges(before: StrategyData, after: StrategyData): Change[] {
  const read = ({ trades: { stop, leverage, account_return } }: StrategyData, row: number) =>
    `${stop[row]} ${leverage[row]} ${account_return[row]}`
  const old = tradesByKey(before, read)
  const n = [...tradesByKey(after, read)].filter(([key, now]) => (old.get(key) ?? now) !== now).length
  return n === 0 ? [] : [{ field: 'unpublished_trade_values', old: null, new: `trades that differ: ${n}` }]
}

function publishedTrade({ trades, tick_size }: StrategyData, row: number): PublishedTrade {
  const toTick = tickRounder(tick_size)
  return {
    side: wordAt(trades.side, row),
    entry_time: trades.entry_time[row]!,
    exit_time: trades.exit_time[row]!,
    entry_price: toTick(trades.entry_price[row]!),
    exit_price: toTick(trades.exit_price[row]!),
    return_pct: toPercent(100 * trades.notional_return[row]!),
    result: tradeResult(trades.account_return[row]!),
    exit_reason: wordAt(trades.exit_reason, row),
  }
}
