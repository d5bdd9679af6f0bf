import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import {
  type Change,
  type FilledGap,
  type StrategyChanges,
  changes as schema,
} from '#core/contract/payloads/changes.ts'
import { toPublishedSeries, toSignificant } from '#core/contract/rounding.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { METHOD_REVISION } from '#core/dataset/definitions.ts'
import { toAncestor } from '#core/dataset/lineage.ts'
import { hasOtherFiles, isExplained, isRestated } from '#core/dataset/restated.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { changesOf } from '#pages/versions.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { type HandStrategy, type HandTrade, handSnapshot } from '../../support/books/hand-snapshot.ts'

const NEXT = { version: '2024-06-02T00:15:00Z' }
const at = (day: string, hour = 0): number => parseIsoDate(day)! * DAY_MS + hour * 3_600_000

/** The dates are those of 2024: the series begins on Monday the 1st of January. */
const days = [0.01, -0.02, 0.005, 0, 0.0125, 0.01, -0.01, 0.02]
const ash: HandStrategy = {
  id: 'ash',
  returns: days,
  trades: [
    { entry_time: at('2024-01-01', 4), exit_time: at('2024-01-03', 8), account_return: 0.01 },
    { entry_time: at('2024-01-04', 4), exit_time: at('2024-01-06'), account_return: -0.01 },
  ],
}
const elm: HandStrategy = { id: 'elm', returns: [0.001, 0.002, 0.003] }

const compare = (before: readonly HandStrategy[], after: readonly HandStrategy[]) =>
  compareSnapshots(handSnapshot(before), handSnapshot(after, NEXT))

const NOTHING = { appended: null, restated_count: 0, restated: [] }

test('in the first version everything is added', () => {
  const changes = compareSnapshots(null, handSnapshot([ash, elm]))
  const all = { added: ['ash', 'elm'], strategies: [] }
  expect(changes).toMatchObject({ previous: null, history_restated: false, ...all })
})

test('equal datasets have no differences', () => {
  const { strategies, ...changes } = compare([ash, elm], [ash, elm])
  expect(changes).toEqual({
    ...{ version: NEXT.version, previous: '2024-06-01T00:15:00Z', history_restated: false },
    ...{ added: [], removed: [], dataset: [], definitions: [] },
  })
  for (const { id, ...each } of strategies) {
    const trades = { appended: 0, restated_count: 0, restated: [] }
    expect(each, id).toEqual({ daily: NOTHING, weekly: NOTHING, trades, stats: [], catalogue: [] })
  }
})

test('days after the old end are appended, and so is the week that they complete', () => {
  const longer = { ...ash, returns: [...days, 0.01, 0.01, 0.01, 0.01, 0.01, 0.03] }
  const [change] = compare([ash], [longer]).strategies
  expect(change?.daily).toEqual({ ...NOTHING, appended: { from: '2024-01-09', to: '2024-01-14', n: 6 } })
  expect(change?.weekly).toEqual({ ...NOTHING, appended: { from: '2024-01-14', to: '2024-01-14', n: 1 } })
})

test.each(casesOf<[string, object, object]>`
is altered -> ${{ returns: days.with(2, 0.006) }} -> ${{ t: '2024-01-03', old: 0.005, new: 0.006 }}
is gone from the end -> ${{ returns: days.slice(0, -1) }} -> ${{ t: '2024-01-08', old: 0.02, new: null }}
is gone from the start -> ${{ first: '2024-01-02', returns: days.slice(1) }} -> ${{ t: '2024-01-01', old: 0.01, new: null }}
comes before the old start -> ${{ first: '2023-12-31', returns: [0.5, ...days] }} -> ${{ t: '2023-12-31', old: null, new: 0.5 }}`)(
  'a day that %s is restated with its date and both values',
  (_, change, restated) => {
    const changes = compare([ash], [{ ...ash, ...change }])
    expect(changes.history_restated).toBe(true)
    expect(changes.strategies[0]?.daily.restated).toEqual([restated])
  },
)

test('a difference below the published precision is not a difference', () => {
  const returns = [0.01 + 1e-14, ...days.slice(1)]
  expect(compare([ash], [{ ...ash, returns }]).history_restated).toBe(false)
})

test('a comparison with more than a hundred restated days lists the first hundred and counts all', () => {
  const flat = (ret: number) => [{ id: 'ash', returns: Array<number>(102).fill(ret) }]
  const { restated, restated_count } = compare(flat(0.01), flat(0.02)).strategies[0]!.daily
  expect([restated.length, restated.at(-1)?.t, restated_count]).toEqual([100, '2024-04-09', 102])
})

const [first, second] = ash.trades!
const grown = { ...ash, returns: [...days, 0.01] }

test('a trade that closed after the old window is appended, even if an earlier entry puts it in between', () => {
  const slow = { entry_time: at('2024-01-02'), exit_time: at('2024-01-09', 4), account_return: 0.02 }
  const { trades } = compare([ash], [{ ...grown, trades: [first!, slow, second!] }]).strategies[0]!
  expect(trades).toEqual({ appended: 1, restated_count: 0, restated: [] })
})

test.each(casesOf<[string, HandTrade[], string]>`
another outcome -> ${[{ ...first!, account_return: 0.011, notional_return: 0.5 }, second!]} -> return_pct
another price -> ${[{ ...first!, exit_price: 123 }, second!]} -> exit_price
another result for the account -> ${[{ ...first!, account_return: -0.001, notional_return: 0.01 }, second!]} -> result
another reason -> ${[{ ...first!, exit_reason: 'time' }, second!]} -> exit_reason
a trade that is gone -> ${[second!]} -> trade
a trade that was not there -> ${[first!, { ...first!, entry_time: at('2024-01-01', 8) }, second!]} -> trade
another side -> ${[{ ...first!, side: 'short' }, second!]} -> trade`)(
  'a ledger is restated by %s within the old window',
  (_, trades, field) => {
    const changes = compare([ash], [{ ...grown, trades }])
    expect(changes.history_restated).toBe(true)
    const { restated } = changes.strategies[0]!.trades
    expect(restated.flatMap(trade => trade.changes.map(change => change.field))).toContain(field)
  },
)

test('a removed strategy is a restatement, and a new one alters nothing', () => {
  expect(compare([ash, elm], [ash])).toMatchObject({ removed: ['elm'], history_restated: true })
  expect(compare([ash], [ash, elm])).toMatchObject({ added: ['elm'], history_restated: false })
})

test('changes of the catalogue and of headline figures are listed, and are not a restatement', () => {
  const renamed = { ...ash, name: 'Mountain ash', returns: [...days, 0.01] }
  const changes = compare([ash], [renamed])
  expect(changes.history_restated).toBe(false)
  expect(changes.strategies[0]?.catalogue).toEqual([{ field: 'name', old: 'ash', new: 'Mountain ash' }])
  expect(changes.strategies[0]?.stats.map(({ field }) => field)).toContain('net_return_pct')
})

test('another base risk restates every rescaled figure, though no return differs, by however little', () => {
  const changes = compare([ash, elm], [{ ...ash, base_risk_pct: 0.0200000001 }, elm])
  expect(changes.history_restated).toBe(true)
  expect(changes.strategies.filter(isRestated).map(({ id }) => id)).toEqual(['ash'])
  expect(changes.strategies[0]).toMatchObject({
    daily: { restated_count: 0 },
    catalogue: [{ field: 'base_risk_pct', old: 0.02, new: 0.0200000001 }],
  })
  expect(toAncestor(changes, null).restated).toMatchObject([{ base_risk: true, module_version: false }])
})

test('another version of a module is a restatement, and a strategy that only now has one, or has none any more, is not', () => {
  const restated = (old: string | null, now: string | null): boolean =>
    compare([{ ...ash, module_version: old }], [{ ...ash, module_version: now }]).history_restated
  expect(restated('1', '2')).toBe(true)
  expect(restated('2', '1')).toBe(true)
  expect([restated('1', '1'), restated(null, '1'), restated('1', null)]).toEqual([false, false, false])
})

test('a version made by an earlier method announces the definitions that changed since, and they restate nothing', () => {
  const before = handSnapshot([ash], { method_revision: 3 })
  const changes = compareSnapshots(before, handSnapshot([ash], NEXT))
  expect(changes.definitions?.map(({ figure }) => figure)).toEqual([
    'published_since; stats: fund_dd/since_publication',
    'strategies: verification_state',
    expect.stringMatching(/^Sharpe and Sortino ratios/),
  ])
  for (const { from, to, why } of changes.definitions ?? []) expect([from, to, why]).not.toContain('')
  expect(changes.history_restated).toBe(false)
  expect(schema.safeParse(changes).error).toBeUndefined()
})

test('between two methods a difference that arithmetic alone can make is no restatement, and a larger one is', () => {
  const isRestated = (method_revision: number, old: number, now: number) =>
    compareSnapshots(
      handSnapshot([{ id: 'ash', returns: [old] }], { method_revision }),
      handSnapshot([{ id: 'ash', returns: [now] }], NEXT),
    ).history_restated
  const edge = 1.00000000005e-6 // between two published values
  expect(isRestated(1, edge - 3e-16, edge + 3e-16)).toBe(false)
  expect(isRestated(METHOD_REVISION, edge - 3e-16, edge + 3e-16)).toBe(true)
  expect(isRestated(1, edge - 3e-16, toSignificant(edge + 3e-16))).toBe(false)
  expect(isRestated(1, 0.01, 0.01 + 1e-10)).toBe(true)
})

const anyReturn = fc.double({ min: -0.2, max: 0.2, noNaN: true })
const months = fc.array(anyReturn, { minLength: 40, maxLength: 40 })
const nowOf = (returns: readonly number[]) => {
  const { strategies, ...snapshot } = handSnapshot([{ id: 'ash', returns }], NEXT)
  const rounded = strategies.map(strategy => {
    const daily = toPublishedSeries(strategy.daily)
    return { ...strategy, daily, weekly: toPublishedSeries(strategy.weekly) }
  })
  return { ...snapshot, strategies: rounded }
}
const oldOf = (returns: readonly number[], method_revision = 2) =>
  handSnapshot([{ id: 'ash', returns }], { method_revision })

test('the days and weeks of a version that did not round them, rounded, restate nothing', () => {
  forAll(months, any => {
    expect(compareSnapshots(oldOf(any), nowOf(any)).history_restated).toBe(false)
  })
})

test('an altered day after a version that did not round is restated, and its week and no other', () => {
  forAll(months, fc.integer({ min: 0, max: 34 }), (returns, where) => {
    const changes = compareSnapshots(oldOf(returns), nowOf(returns.with(where, returns[where]! + 0.001)))
    expect(changes.strategies[0]?.daily.restated_count).toBe(1)
    expect(changes.strategies[0]?.weekly.restated).toMatchObject([
      { t: toIsoDate(parseIsoDate('2024-01-07')! + 7 * Math.floor(where / 7)) },
    ])
  })
})

test('a price that only its rounding changes is not restated', () => {
  const priced = { ...ash, tick_size: 0.25, trades: [{ ...ash.trades![0]!, entry_price: 100.13 }] }
  const before = handSnapshot([priced], { method_revision: 1 })
  expect(compareSnapshots(before, handSnapshot([priced], NEXT)).history_restated).toBe(false)
})

test('appending is never a restatement, altering one day always is, and both hold to the schema', () => {
  const history = fc.array(anyReturn, { minLength: 1, maxLength: 40 })
  forAll(history, history, fc.nat(), (old, more, where) => {
    const grown = compare([{ id: 'ash', returns: old }], [{ id: 'ash', returns: [...old, ...more] }])
    expect(grown.history_restated).toBe(false)
    expect(grown.strategies[0]?.daily.appended?.n).toBe(more.length)
    const altered = old.with(where % old.length, old[where % old.length]! + 0.001)
    const restated = compare([{ id: 'ash', returns: old }], [{ id: 'ash', returns: [...altered, ...more] }])
    expect(restated.history_restated).toBe(true)
    expect(restated.strategies[0]?.daily.restated_count).toBe(1)
    for (const changes of [grown, restated]) expect(schema.safeParse(changes).error).toBeUndefined()
  })
})

/** A strategy with one altered day, and these facts of the catalogue. */
const alteredWith = (catalogue: Change[]): StrategyChanges => ({
  id: 'ash',
  daily: { ...NOTHING, restated_count: 1, restated: [{ t: '2024-01-05', old: 0, new: 0.01 }] },
  weekly: NOTHING,
  trades: { appended: 0, restated_count: 0, restated: [] },
  stats: [],
  catalogue,
})

/** A gap before that day that was filled. */
const DAY = '2024-01-04T00:00:00Z'
const GAPS: FilledGap[] = [
  { of: 'BTCUSDT-PERP/1d', from: DAY, to: DAY, reason: 'the exchange was closed', strategies: ['ash'] },
]

test('a gap in the bars that was filled explains other returns on the days after it, and neither another base risk nor another version of a module', () => {
  const explains = (...catalogue: Change[]) => isExplained(alteredWith(catalogue), GAPS)
  expect(explains()).toBe(true)
  expect(explains({ field: 'name', old: 'Ash', new: 'Oak' })).toBe(true)
  expect(explains({ field: 'base_risk_pct', old: 0.02, new: 0.01 })).toBe(false)
  expect(explains({ field: 'module_version', old: '1', new: '2' })).toBe(false)
})

/** What no list of changes names: it is compared value by value, follows from what is compared, or differs in every version. */
const OTHERS = {
  strategy: [
    ...['id', 'window', 'figures', 'daily', 'weekly', 'trades', 'days_without_bars', 'idle_since'],
    ...['leverage_typical', 'leverage_max', 'refused_above_risk_pct', 'published_since', 'rules_since'],
    ...['time_stamp', 'measured', 'live'],
  ],
  dataset: [
    ...['version', 'window', 'funding', 'accepted_findings', 'history_restated', 'method_revision'],
    ...['lineage', 'removed', 'seals', 'entered', 'stress_periods'],
  ],
}
const OLD = 'old'
const full = { ...elm, rules_sha256: OLD }

test.each(['strategy', 'dataset'] as const)(
  'every field of a %s that differs is listed with both values, and the versions page says so',
  of => {
    const before = handSnapshot([full])
    const strategy = before.strategies[0]!
    const fields = Object.keys(of === 'strategy' ? strategy : before.dataset)
    const listed = fields.filter(field => !OTHERS[of].includes(field))
    expect(listed.length).toBeGreaterThan(of === 'strategy' ? 20 : 8)
    for (const field of listed) {
      const [own, its] = of === 'strategy' ? [{ [field]: 'other' }, {}] : [{}, { [field]: 'other' }]
      const after = { ...before, strategies: [{ ...strategy, ...own }] }
      const dataset = { ...before.dataset, ...NEXT, ...its }
      const changes = compareSnapshots(before, { ...after, dataset })
      const found = of === 'strategy' ? changes.strategies[0]!.catalogue : changes.dataset
      expect(found).toMatchObject([{ field, new: 'other' }])
      const old = String(found![0]!.old ?? 'none')
      const ofDataset = expect.stringMatching(new RegExp(`^Changed: ${field}, .* -> other\\.$`))
      const sentence = of === 'strategy' ? `Changed: ${field} of elm, ${old} -> other.` : ofDataset
      expect(changesOf(toAncestor(changes, null))).toContainEqual(sentence)
    }
  },
)

const wordsOf = (before: Snapshot, after: Snapshot): readonly string[] =>
  changesOf(toAncestor(compareSnapshots(before, after), null))

test('the page says of changes that an older release listed, without the facts, that others were not recorded', () => {
  const { dataset: _unknown, ...listed } = compareSnapshots(handSnapshot([ash]), handSnapshot([ash], NEXT))
  expect(changesOf(toAncestor(listed, null))).toEqual([
    'No published value restated; other changes were not recorded.',
  ])
})

test('a number that differs stands before every text that does, and a long text is shown from where it differs', () => {
  const named = (blurb: string, trials: number) => [
    ...Array.from({ length: 120 }, (_, i) => ({ ...elm, id: `s${i}`, blurb: `${blurb} ${i}` })),
    { ...ash, trials },
  ]
  const same = 'x'.repeat(300)
  const words = wordsOf(handSnapshot(named(`${same} old`, 40)), handSnapshot(named(`${same} new`, 1), NEXT))
  expect(words[0]).toBe('Changed: trials of ash, 40 -> 1.')
  expect(words[1]).toMatch(/^Changed: blurb of s0, …x+ old 0 -> …x+ new 0\.$/)
  expect(words.at(-1)).toBe('And 21 other changes.')
})

test('a text that the strategies share is one sentence of the versions page, however many have it', () => {
  const many = (engine: string) => Array.from({ length: 30 }, (_, i) => ({ ...elm, id: `s${i}`, engine }))
  const [sentence, ...more] = wordsOf(handSnapshot(many('one')), handSnapshot(many('two'), NEXT))
  expect(sentence).toMatch(/^Changed: engine of s0, .*s11 and 18 more, one -> two\.$/)
  expect(more).toEqual([])
})

const held = (...values: readonly number[]) => ({
  instrument: 'BTCUSDT-PERP',
  daily: dailyFrom('2024-01-01', values),
})

const funding = {
  ...{ instrument: 'BTCUSDT-PERP', from: '2024-01-01T00:00:00Z', to: '2024-01-08T00:00:00Z' },
  ...{ payments: 22, payments_missing: 0, gaps: 0, longest_gap_hours: null },
  ...{ interval_basis: 'stated' as const, intervals: [{ from: null, hours: 8 }] },
}
const finding = {
  ...{ finding: 'gap', of: 'BTCUSDT-PERP/1d', from: '2024-01-02T00:00:00Z', to: '2024-01-03T00:00:00Z' },
  ...{ count: 2, what: '2 bars are missing', reason: 'the exchange was closed', strategies: ['ash'] },
}

const laterFunding = { ...funding, to: '2024-01-09T00:00:00Z', payments: 25 }
/** A version, or what it says otherwise of the dataset, or its benchmark, than one with the strategy alone. */
const stating = (dataset: Partial<Snapshot['dataset']>) => handSnapshot([ash], { ...NEXT, ...dataset })
const holding = (...values: number[]) => handSnapshot([ash], NEXT, values.length > 0 ? [held(...values)] : [])
const HELD = holding(0.01, 0.02)
const FUNDED = stating({ funding: [funding] })

test.each(casesOf<[string, Snapshot, Snapshot, RegExp]>`
days alone that are added -> ${handSnapshot([ash])} -> ${handSnapshot([grown], NEXT)} -> ${/^New days only\.$/}
days and a fact that are added -> ${handSnapshot([ash])} -> ${handSnapshot([{ ...grown, trials: 40 }], NEXT)} -> ${/^Changed: trials of ash, none -> 40\.$/}
a benchmark that is gone -> ${HELD} -> ${holding()} -> ${/^Changed: benchmark BTCUSDT-PERP, shown -> none\.$/}
a benchmark with other values -> ${HELD} -> ${holding(0.01, 0.021, 0.03)} -> ${/^Changed: benchmark BTCUSDT-PERP, other values: 1, the first of 2024-01-02, 0\.02 -> 0\.021\.$/}
a benchmark that only grows -> ${HELD} -> ${holding(0.01, 0.02, 0.03)} -> ${/^New days only\.$/}
later payments of funding -> ${FUNDED} -> ${stating({ funding: [laterFunding] })} -> ${/^New days only\.$/}
payments of funding that are gone -> ${FUNDED} -> ${stating({ funding: [{ ...laterFunding, payments: 0 }] })} -> ${/^Changed: funding of BTCUSDT-PERP, from 2024-01-01T00:00:00Z, gaps 0, .* -> none\.$/}
a finding that is accepted -> ${stating({})} -> ${stating({ accepted_findings: [finding] })} -> ${/^Changed: accepted gap of BTCUSDT-PERP\/1d from 2024-01-02T00:00:00Z, none -> the exchange was closed\.$/}`)(
  'the versions page says in one sentence what a version changes: %s',
  (_, before, after, sentence) => {
    expect(wordsOf(before, after)).toEqual([expect.stringMatching(sentence)])
  },
)

test('stops that differ are counted and not published', () => {
  const stopped = (stop: number) => handSnapshot([{ ...ash, trades: [{ ...first!, stop }, second!] }], NEXT)
  const changes = compareSnapshots(stopped(88.5), stopped(77.25))
  expect(changes.history_restated).toBe(false)
  expect(changes.strategies[0]?.catalogue).toEqual([
    { field: 'unpublished_trade_values', old: null, new: 'trades that differ: 1' },
  ])
  expect(JSON.stringify(changes)).not.toMatch(/88\.5|77\.25/)
})

test('the first digest of a module is no change, and another one is', () => {
  const having = (rules_sha256: string | null) => [{ ...ash, module_version: '1', rules_sha256 }]
  const changesFrom = (old: string | null) => compare(having(old), having('b')).strategies[0]!
  expect(changesFrom(null).catalogue).toEqual([])
  const others = [null, 'b', 'a'].map(old => hasOtherFiles(changesFrom(old)))
  expect(others).toEqual([false, false, true])
})
