// A fact sheet: what a night computes from bars or a module, the book beside it, what its names open, and what is said of a record.
// Where a text of verdicts.txt or live-section.txt is meant to change, rewrite it: vitest run test/pages/sheet --update=all
import { brotliCompressSync, constants } from 'node:zlib'
import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { toPercent } from '#core/contract/rounding.ts'
import type { Ancestor } from '#core/dataset/lineage.ts'
import type { RiskLevel } from '#core/dataset/resources/risk-level.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { equalWeightBook } from '#core/figures/book.ts'
import { correlatePair } from '#core/figures/pearson.ts'
import { decimal } from '#pages/format.ts'
import { exposureCharts } from '#pages/sheet/exposure.ts'
import { type SheetFacts, sheetFacts, sheetSeries } from '#pages/sheet/facts.ts'
import { type Range, sheetModel } from '#pages/sheet/model.ts'
import { LATER, SECTIONS } from '#pages/sheet/sections.ts'
import { sheetPage } from '#pages/sheet/sheet.ts'
import {
  aLiveRecord,
  aNight,
  HAND_VERSION,
  type HandStrategy,
  handSnapshot,
} from '#test/support/books/hand-snapshot.ts'
import { oddBook } from '#test/support/books/odd-book.ts'
import { htmlElements, pagesOf } from '#test/support/browser/rendered-pages.ts'

const wave = (days: number, phase: number): number[] =>
  Array.from({ length: days }, (_, i) => Math.sin(i * 1.7 + phase) * Math.cos(i / 40 + phase) * 0.02)

const strategy = (id: string, phase: number, given: Partial<HandStrategy> = {}): HandStrategy => ({
  ...{ id, first: '2014-06-01', returns: wave(3650, phase) },
  ...given,
})
const night = aNight('2014-06-01', wave(3650, 1))

const sheetOf = (snapshot: Snapshot, id = 's'): string =>
  pagesOf(snapshot).get(`strategies/${id}/sheet.html`)!()

/** The model of a strategy; `facts` replace those of the snapshot. */
function modelOf(snapshot: Snapshot, { level = null, range, facts = {} }: ModelOptions = {}) {
  const [own] = snapshot.strategies
  return sheetModel({ ...sheetFacts(snapshot, own!), ...facts }, sheetSeries(snapshot, own!), level, range)
}
type ModelOptions = { level?: RiskLevel | null; range?: Range; facts?: Partial<SheetFacts> }

/** The text of a section, without the elements. */
function sectionOf(page: string, name: string): string {
  const text = new RegExp(`<section class="${name}" id="${name}">(.*?)</section>`, 's').exec(page)?.[1]
  return (text ?? '').replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

/** Trades in eight hours of every ninth day of 2024, and what is sealed of them since the second. */
const liveTrades = Array.from({ length: 12 }, (_, i) => ({
  ...{ entry_time: Date.UTC(2024, 0, 2 + 9 * i), exit_time: Date.UTC(2024, 0, 2 + 9 * i, 8) },
  account_return: 0.01,
}))
const liveRecord = aLiveRecord(liveTrades.slice(1), '2024-05-20')
const liveStrategy = {
  ...{ id: 's', first: '2024-01-01', returns: wave(150, 0), trades: liveTrades, live: liveRecord.live },
}

test('a sheet has the account at twice the costs beside the account', () => {
  const snapshot = handSnapshot([strategy('s', 0, { night })])
  const { net_return_pct } = snapshot.strategies[0]!.figures.values
  const text = sectionOf(sheetOf(snapshot), 'costs')
  const doubled = 100 * (night.costs!.doubled.values.reduce((equity, value) => equity * (1 + value), 1) - 1)
  const print = (value: number) => `${decimal(value, 1)} %`
  expect(text).toContain(`Net return ${print(Number(net_return_pct))} ${print(doubled)}`)
})

test('a sheet has the distributions of the excursions as a picture and as numbers, and no trade', () => {
  const page = sheetOf(handSnapshot([strategy('s', 0, { night })]))
  const text = sectionOf(page, 'excursions')
  expect(text).toContain('MAE: 5 to 95 % from −0.95 to −0.05, median −0.50, mean −0.50.')
  expect(text).toContain('Median −0.50 1.00 75 % −0.25 1.50')
  expect(page.match(/class="whisker"/g)).toHaveLength(2)
})

test.each([
  [{ costs: null, excursions: null }, 'this needs bars and the leverage of every trade'],
  [{ ...night, excursions: night.excursions!.slice(0, 19) }, 'there are fewer than 20 closed trades'],
])('a sheet says why it has no excursions, with %j', (given, why) => {
  const page = sheetOf(handSnapshot([strategy('s', 0, { night: given })]))
  expect(sectionOf(page, 'excursions')).toContain(`Not computed: ${why}.`)
  expect(sectionOf(page, 'costs').includes('Not computed')).toBe(given.costs === null)
})

test('a sheet has each replay beside its rescale, and the entries that the leverage cap refused', () => {
  const snapshot = handSnapshot([strategy('s', 0, { night })])
  const page = sheetOf(snapshot)
  const text = sectionOf(page, 'replays')
  expect(text).toMatch(/4 %, replayed \S+ % \S+ % \S+ 39 50 7 4 %, rescaled \S+ % \S+ % \S+ $/)
  expect(sectionOf(page, 'trades')).toContain(
    'On all days the leverage cap refused 2 of 40 entries that the module asked for.',
  )
  const without = sheetOf(handSnapshot([strategy('s', 0)]))
  expect(without).not.toContain('class="replays"')
  const replays = { ...night.replays!, entries: { asked: 40, refused: 0 } }
  const none = sheetOf(handSnapshot([strategy('s', 0, { night: { ...night, replays } })]))
  for (const page of [without, none]) expect(page).not.toContain('the module asked for')
})

test('a sheet draws the book and correlates with it and with the rest of it, unless the book is the strategy alone', () => {
  const snapshot = handSnapshot([strategy('s', 0), strategy('o', 2), strategy('p', 4)])
  const page = sheetOf(snapshot)
  expect(page).toContain('<path class="line other"')
  expect(page).toContain('Book at base risk')
  const [own, ...others] = snapshot.strategies.map(({ daily }) => daily)
  const correlations = [equalWeightBook([own!, ...others]).daily, equalWeightBook(others).daily].map(book =>
    toPercent(correlatePair(own!, book).rho),
  )
  const [, ...shown] = /<section class="correlation".*?value="([^"]+)".*?value="([^"]+)"/s.exec(page)!
  expect(shown.map(Number)).toEqual(correlations.map(value => expect.closeTo(value, 5)))
  const apart = strategy('o', 2, { first: '2004-01-01', returns: wave(100, 2) })
  for (const alone of [[strategy('s', 0)], [strategy('s', 0), apart]])
    expect(sheetOf(handSnapshot(alone))).not.toContain('Book at base risk')
})

test('a sheet of ten years, with all of it, has fewer than 20 000 bytes compressed as at night', () => {
  const trades = Array.from({ length: 400 }, (_, i) => ({
    entry_time: 1.4e12 + i * 6e8,
    exit_time: 1.4e12 + i * 6e8 + 3.6e6 * (1 + (i % 90)),
    account_return: Math.sin(i) / 30,
  }))
  const { live, seals } = aLiveRecord(trades.slice(200), '2024-05-20')
  const strategies = [strategy('s', 0, { night, trades, live }), ...[1, 2, 3].map(i => strategy(`o${i}`, i))]
  const held = handSnapshot([strategy('held', 9)]).strategies[0]!
  const snapshot = handSnapshot(strategies, { seals }, [{ instrument: held.instrument, daily: held.daily }])
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
  expect(brotliCompressSync(sheetOf(snapshot), quality).length).toBeLessThan(20_000)
})

test('a sheet has a definition behind each name of a figure, and its symbols behind each formula', () => {
  const held = handSnapshot([strategy('held', 9)]).strategies[0]!
  const benchmarks = [{ instrument: held.instrument, daily: held.daily }]
  const snapshot = handSnapshot([strategy('s', 0, { night }), strategy('o', 2)], {}, benchmarks)
  const later = LATER.map(name => SECTIONS[name](modelOf(snapshot))).join('')
  const elements = htmlElements(sheetOf(snapshot).replace('</main>', `${later}</main>`))
  const popovers = new Set(
    elements.filter(({ attributes }) => 'popover' in attributes).map(({ attributes }) => attributes.id!),
  )
  const opened = new Set(elements.flatMap(({ attributes }) => attributes.popovertarget ?? []))
  expect([...popovers].filter(id => !opened.has(id))).toEqual([])
  expect([...popovers].filter(id => id.startsWith('symbols-'))).toHaveLength(9)
  const texts = sheetOf(snapshot).match(/<div id="about-.*?<\/div>/gs)!
  for (const text of texts.filter(text => / <code>.*<\/code> /.test(text)))
    expect(text.includes('popovertarget="symbols-') || !text.includes('API:')).toBe(true)
})

const LIMIT = 'This does not show when the rules were written.'
const CHECKED = {
  ...{ trades_checked: 25, mean_deviation_bps: 0.004, largest_deviation_bps: -0.41 },
  ...{ trades_at_stop: 12, loss_at_stop: 1.0421 },
}

test.each([
  [{ verification_state: 'dual_verified' }, 'computed twice, equal'],
  [{ verification_state: 'single_verified' }, 'results recomputed'],
  [{ marking: 'marked', measured: { ...CHECKED, trades_checked: 0 } }, 'nothing to check yet'],
  [{ marking: 'reported', measured: { ...CHECKED, trades_checked: 0 } }, 'unverified'],
  [{}, 'unverified'],
] as const)('the badge of %j says “%s”, and beside it stands what no computation shows', (given, words) => {
  const page = sheetOf(handSnapshot([strategy('s', 0, given)]))
  expect(page.match(/<button type="button" class="badge /g)).toHaveLength(1)
  expect(page).toContain(`>${words}</button></dd> <dd><a href="#publication">${LIMIT}</a>`)
  const book = pagesOf(handSnapshot([strategy('s', 0, given)])).get('index.html')!()
  expect(book).toContain(`>${words}</button></td>`)
  expect(book).toContain(`Of “Verified”: ${LIMIT}`)
})

const LIVE = 'Live: no live record this version opens no seals'

/** The six facts of a strategy of a book with these versions, a line each. */
function verdictOf(given: HandStrategy, dataset: Partial<Snapshot['dataset']>, level: number | null = null) {
  const snapshot = handSnapshot([given], dataset)
  const page = String(sheetPage(snapshot, snapshot.strategies[0]!, level).body)
  const [, text = ''] = /<dl class="verdict">(.*?)<\/dl>/s.exec(page) ?? []
  return text
    .split('</div>')
    .slice(0, -1)
    .map(fact =>
      fact
        .replace('</dt>', ': ')
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&#39;', "'")
        .trim(),
    )
}

const trade = { entry_time: 1.4e12, exit_time: 1.41e12, account_return: 0.01 }
const V1 = '2024-05-01T00:15:00Z'
const version = (given: Partial<Ancestor>, i = 0): Ancestor => ({
  ...{
    version: V1.replace('01', `0${i + 1}`),
    entered: null,
    previous: null,
    added: [],
    removed: [],
    definitions: [],
    not_compared: [],
  },
  ...{ restated: [], changed: [], declared: [], ...given },
})
const restated = { id: 's', daily: 2, weekly: 0, trades: 0, base_risk: false, module_version: false }

const JUDGED: readonly (readonly [string, HandStrategy, readonly Partial<Ancestor>[]])[] = [
  [
    'replayed and time-stamped',
    strategy('s', 0, {
      ...{
        verification_state: 'dual_verified',
        marking: 'marked',
        measured: { ...CHECKED, trades_checked: 1 },
      },
      ...{ trades: [trade], published_since: V1, time_stamp: { at: '2024-05-01T00:20:00Z', by: 'TSA' } },
      ...{ module_version: '3', rules_sha256: 'abcdef0123456789ffff', rules_since: V1 },
    }),
    [{ added: ['s'] }, { declared: [{ what: 'same_rules', of: 's', reason: 'a comment' }] }],
  ],
  [
    'from a ledger, of 20 days and restated, of which a version was lost',
    strategy('s', 0, {
      ...{ returns: wave(20, 0), marking: 'marked', measured: { ...CHECKED, trades_checked: 2 } },
      ...{ trades: [trade, trade], published_since: '2024-05-03T00:15:00Z' },
    }),
    [{ restated: [restated] }, { not_compared: ['2024-05-02T00:15:00Z'] }, { restated: [restated] }],
  ],
  ['reported, without a day', { id: 's', returns: [] }, []],
  [
    'ruined, and time-stamped long after its name',
    {
      ...{ id: 's', returns: [0.1, -60, 0.1], published_since: '2023-05-01T00:15:00Z' },
      time_stamp: { at: '2024-05-20T00:15:00Z', by: 'TSA' },
    },
    [{}, { not_compared: ['2024-05-02T00:15:00Z'] }],
  ],
]

test('the verdict on a strategy has six facts with their evidence, as in verdicts.txt for each kind of record, the same at every risk level', async () => {
  const texts = JUDGED.map(([kind, given, versions]) => {
    const lineage = versions.map(version)
    const [facts, others] = [null, 0.06].map(level => verdictOf(given, { lineage }, level))
    expect(others).toEqual(facts)
    return `${kind}\n${facts!.map(fact => `  ${fact}\n`).join('')}`
  })
  await expect(texts.join('\n')).toMatchFileSnapshot('verdicts.txt')
})

test('the verdict says since when files or a version are the same or declared so, and from which version on it compares', () => {
  const module = { module_version: '3', rules_sha256: 'abc', rules_since: V1.replace('01', '03') }
  const of = (lineage: readonly Partial<Ancestor>[], given: Partial<HandStrategy> = {}): string => {
    const gone = { id: 's', name: 'S', on: '2024-05-02', reason: '', published_since: V1, days: 9 }
    const removed = lineage[1]?.removed ? [gone] : []
    const all = verdictOf(strategy('s', 0, { ...module, ...given }), {
      lineage: lineage.map(version),
      removed,
    })
    return all.slice(2, 4).join(' ')
  }
  const [added, known] = [{ added: ['s'] }, /: same files .* no value restated in 3 versions what/]
  expect(of([added, { declared: [{ what: 'same_rules', of: 's', reason: '' }] }, {}])).toMatch(known)
  expect(of([added], { rules_since: HAND_VERSION })).toMatch(/: entered 1 June .*: first version nothing to/)
  expect(of([{}, {}], { rules_sha256: null })).toMatch(/: same version since .* not known before 1 May 2024 /)
  expect(of([added, {}, { changed: null }])).toMatch(/: same version .* other changes not recorded what/)
  const back = of([{ restated: [restated] }, { removed: ['s'] }, added])
  expect(back).toContain('added again nothing to compare yet; added again on 3 May 2024, removed before what')
})

test('a sheet has each live entry under what became of it, both records, both clocks, what was ordered and where the chain is incomplete, as in live-section.txt', async () => {
  const lost = [{ n: 9, why: 'The secret was lost.' }]
  const snapshot = handSnapshot([liveStrategy], { seals: { ...liveRecord.seals, lost }, embargo_days: 11 })
  const page = sheetOf(snapshot)
  const text = sectionOf(page, 'live')
    .replaceAll('&#39;', "'")
    .replaceAll(/ (?=[,:;.] )/g, '')
  await expect(
    `${text
      .trim()
      .split(/(?<=[.;]) /)
      .join('\n')}\n`,
  ).toMatchFileSnapshot('live-section.txt')
  const [sealed, late] = page.match(/(?<=class="strip".*? d=")[^"]*/g)!
  expect([sealed, late]).toEqual(['M5 3v10m197-10v10m196-10v10', 'M55 3v10m392-10v10'])
  const at = String(sheetPage(snapshot, snapshot.strategies[0]!, 0.06).body)
  expect(sectionOf(at, 'live')).toBe(sectionOf(page, 'live'))
})

test('the verdict, the section and the book say from when to when a strategy is live, whose clock says so, and that it is simulated, unmatched or never live', () => {
  const { live, seals } = liveRecord
  const of = (given: Partial<HandStrategy>, dataset: Partial<Snapshot['dataset']> = {}) =>
    verdictOf({ ...liveStrategy, ...given }, { seals, ...dataset })[4]
  const counts = '3 of 11 entries by the strategy in time, 2 late, 3 missed, 1 halted, 2 by hand'
  expect(of({})).toBe(
    `Live: since 10 January 2024 ${counts} by the publisher's own clock, with time stamps that name TSA, as the publisher states`,
  )
  const own = { ...seals, stamped_by: null }
  expect(of({}, { synthetic: true, seals: own })).toMatch(
    new RegExp(`^Live: since 10 January 2024 simulated: ${counts} by the publisher's own clock$`),
  )
  const end = { ...live.events[0]!, event: 'ended', sealed: Date.UTC(2024, 3, 30, 1) } as const
  const ended = { live: { ...live, events: [...live.events, end] } }
  expect(of(ended)).toMatch(/^Live: 10 January 2024 to 30 April 2024 3 of 11 entries/)
  const after = { from: '2024-05-05T00:00:00Z', to: '2024-05-05T01:00:00Z' }
  const other = { ...seals, gaps: [...seals.gaps, after] }
  expect(sectionOf(sheetOf(handSnapshot([{ ...liveStrategy, ...ended }], { seals: other })), 'live')).toMatch(
    / judged 10 Jan 2024 30 Apr 2024 .* Gaps between seals 1 /,
  )
  expect(of({ trades: [] })).toBe(
    "Live: since 10 January 2024 no entry to judge yet, 7 of no trade by the publisher's own clock, with time stamps that name TSA, as the publisher states",
  )
  const tried = {
    ...live,
    events: [],
    signals: live.signals.map(each => ({ ...each, mode: 'DRY_RUN' as const })),
  }
  for (const none of [null, tried]) {
    expect(of({ live: none })).toBe('Live: no live record never live in the seals up to 20 May 2024')
    expect(of({ live: none }, { seals: { ...seals, opened_to: null } })).toBe(LIVE)
    expect(sheetOf(handSnapshot([{ ...liveStrategy, live: none }], { seals }))).not.toContain('id="live"')
  }
  const page = (synthetic: boolean, given = seals) => {
    const snapshot = handSnapshot([liveStrategy], { synthetic, seals: given })
    return `${sectionOf(sheetOf(snapshot), 'live')} ${pagesOf(snapshot).get('index.html')!()}`
  }
  expect(page(true, own)).toMatch(
    /Simulated : prices, signals and times are made up.* no time stamp .*Simulated live trading: 52.000 seals/s,
  )
  expect(page(false)).toMatch(
    />Live trading: 52.000 seals .*, with 1 gap; .* by the publisher.*, with time stamps that name TSA, as the publisher states\. 2 strategies were live and are not in the catalogue: fir, yew\.</,
  )
})

test('a sheet has the tolerance of a ledger, how far its results are from the recomputed ones and the risk that the stops show, and says of a risk without stops that it is declared', () => {
  const of = (given: Partial<HandStrategy>) =>
    sectionOf(sheetOf(handSnapshot([strategy('s', 0, given)])), 'record')
  const text = of({ marking: 'marked', result_tolerance_bps: 25, measured: CHECKED })
  expect(text).toContain(
    'given with the trades, to within 25.0 bp of equity: 25 recomputed; in the mean as the prices, and −0.41 bp apart at most',
  )
  expect(text).toContain(
    '2.00 % of equity per trade, lost at its stop: declared; measured 1.04 times that, the median of 12 trades that ended at their stop',
  )
  expect(of({ measured: { ...CHECKED, trades_at_stop: 0, loss_at_stop: null } })).toContain(
    '2.00 % of equity per trade, lost at its stop: declared, not checked',
  )
})

test('a sheet has accepted findings of the record beside its badge, and those of its bars with the data', () => {
  const place = { from: '2024-01-01T00:00:00Z', to: '2024-03-01T00:00:00Z', count: 20, strategies: ['s'] }
  const accepted_findings = [
    { ...place, finding: 'no_losses', of: 's', what: 'none of 25 trades lost', reason: 'an option seller' },
    { ...place, finding: 'gap', of: 'BTCUSDT-PERP/1d', what: '30 bars missing', reason: 'an outage' },
  ]
  const page = sheetOf(handSnapshot([strategy('s', 0)], { accepted_findings }))
  const beside = `${LIMIT}</a><br>Accepted finding: none of 25 trades lost. Reason: an option seller`
  expect(page.split(beside)).toHaveLength(2)
  expect(page.split('Accepted finding: 30 bars missing. Reason: an outage')).toHaveLength(2)
  const book = pagesOf(handSnapshot([strategy('s', 0)], { accepted_findings })).get('index.html')!()
  expect(book).toContain('>unverified</button><br>accepted findings: 1</td>')
})

test('exposure has the long part of each month above the short one, and a shade over months that are not known, since a day that it says', () => {
  const snapshot = handSnapshot([strategy('s', 0, { first: '2024-02-01', returns: wave(90, 0) })])
  const [own] = snapshot.strategies
  const at = (date: string) => Date.parse(date)
  const trade = { return_pct: 1, result: 'win', exit_time: at('2024-02-16T12:00Z') } as const
  const trades = [
    { ...trade, side: 'long', entry_time: at('2024-02-02') },
    { ...trade, side: 'short', entry_time: at('2024-03-01'), exit_time: at('2024-04-01') },
  ] as const
  const facts = { ...sheetFacts(snapshot, own!), open_since: '2024-04-20' }
  const model = sheetModel(facts, { ...sheetSeries(snapshot, own!), trades }, null)
  const [{ lines, bands } = { lines: [], bands: [] }] = exposureCharts(model)
  expect(lines.map(({ values }) => [0, 28, 29, 59, 60, 89].map(i => values[i]))).toEqual([
    [50, 50, 0, 0, Number.NaN, Number.NaN],
    [-0, -0, -100, -100, Number.NaN, Number.NaN],
  ])
  expect(bands).toEqual([{ from: parseIsoDate('2024-04-01'), to: model.days.to, label: 'not known' }])
  const text = SECTIONS.exposure(model)
  expect(text).toContain('not known, because a position is open since 20 April 2024')
  expect(text).toContain('2 of 3 months are known: on average long 25.0 %, short 50.0 %, flat 25.0 %.')
})

test('the pictures that are left to the script say that data are synthetic', () => {
  const snapshot = handSnapshot([strategy('s', 0, { trades: [trade] })], { synthetic: true })
  const model = modelOf(snapshot)
  const drawn = LATER.flatMap(name => SECTIONS[name](model).match(/<svg class="chart .*?<\/svg>/gs) ?? [])
  expect(drawn).toHaveLength(6)
  for (const picture of drawn) expect(picture).toContain('>synthetic data</text>')
})

const AT = { leverage_typical: 1.5, leverage_max: 4, refused_above_risk_pct: 0.03 }

test('a range begins with an equity of 1 and has the figures of its days, a level multiplies leverage and says if the rules refuse it', () => {
  const snapshot = handSnapshot([strategy('s', 0, AT)])
  const first = parseIsoDate('2014-06-01')!
  const level = { requested: 0.04, effective: 0.04 }
  const model = modelOf(snapshot, { level, range: { from: first + 100, to: first + 599 } })
  const part = handSnapshot([
    strategy('s', 0, { first: '2014-09-09', returns: wave(3650, 0).slice(100, 600) }),
  ])
  const alone = modelOf(part, { level })
  expect([model.figures, model.ahead, model.monthly]).toEqual([alone.figures, alone.ahead, alone.monthly])
  expect([model.path.curve[0], model.path.curve.length]).toEqual([1, 501])
  const text = SECTIONS.headline(model).replaceAll(/<[^>]*>/g, '')
  expect(text).toContain(
    '9 September 2014 to 21 January 2016, 500 days; computed here from the published returns.',
  )
  expect(text).toContain('Leverage3.0×at most 8.0×, all days')
  expect(text).toContain("The strategy's own rules refuse this level. Above 3.00 %")
  expect(SECTIONS.headline(modelOf(snapshot))).not.toContain('refuse this level')
})

test('a range after the ruin at this level has no account, so that all days are shown, and the day of the ruin', () => {
  const snapshot = handSnapshot([{ id: 's', returns: [0.1, -1, 0.1, 0.1, 0.1] }])
  const range = { from: snapshot.strategies[0]!.daily.first + 2, to: null }
  const model = modelOf(snapshot, { range })
  expect(model.days).toEqual(model.all)
  expect(SECTIONS.headline(model)).toContain('2 January 2024</time>: at this risk')
})

test('a sheet draws what of a ruined account can be drawn, and takes no small number and no missing day for none', () => {
  const held = [{ instrument: 'BTCUSDT-PERP', daily: handSnapshot([strategy('h', 9)]).strategies[0]!.daily }]
  const text = (
    given: Partial<HandStrategy>,
    name: 'headline' | 'drawdowns' | 'ahead' | 'starts' | 'days' | 'stress',
    benchmarks = held,
  ) => {
    const snapshot = handSnapshot([strategy('s', 0, given)], {}, benchmarks)
    const [own] = snapshot.strategies
    const section = SECTIONS[name](sheetModel(sheetFacts(snapshot, own!), sheetSeries(snapshot, own!), null))
    return section.replaceAll(/<title.*?<\/title>|<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  }
  const ruined = { first: '2024-01-01', returns: wave(400, 0).with(100, -1.5) }
  expect(text(ruined, 'starts')).toMatch(/of 14 starts gained. 4 ended in ruin.*−100.0 % since/)
  expect(text(ruined, 'starts')).not.toContain('No days to draw')
  expect(text(ruined, 'days')).toMatch(/Worst days Best days 10 Apr 2024 −100.0 %/)
  expect(text(ruined, 'drawdowns')).toMatch(/ never \d/)
  expect(text({ returns: [] }, 'headline')).toContain('Net return – no day yet Max drawdown – no day yet')
  expect(text({ returns: [] }, 'drawdowns')).toContain('No day yet.')
  expect(text({ returns: [0.01, -0.0001] }, 'drawdowns')).toContain('never fell 0.05 % or more')
  expect(text({ leverage_typical: 0.037, leverage_max: 0.4 }, 'headline')).toContain('0.037× at most 0.40×')
  expect(text({}, 'ahead')).toMatch(/Loss of 50 % none of 2.000/)
  expect(text({}, 'stress')).toContain('computed and not chosen. Return')
  expect(text({}, 'stress', [])).toContain(
    'Not compared with BTCUSDT-PERP on these days; the publisher names no period.',
  )
})

test('every sheet of a book of odd strategies has no number that is none, and says how short or over its strategy is', () => {
  const text = (id: string) =>
    sheetOf(oddBook(), id)
      .replaceAll(/<(script|svg).*?<\/\1>|<[^>]*>/gs, ' ')
      .replaceAll(/\s+/g, ' ')
  const ids = oddBook().strategies.map(({ id }) => id)
  for (const id of ids)
    expect([id, text(id)]).not.toEqual([id, expect.stringMatching(/\b(NaN|Infinity|undefined)\b/)])
  expect(text('no-day')).toContain('No day yet: there is nothing to draw or to compute.')
  expect(text('two-days')).toContain('Sharpe 2 days: too short')
  expect(text('ended')).toContain('Ended on 24 February 2024 . Reason: The exchange closed.')
  expect(text('only-open')).toContain('A position that was opened on 5 February 2024 is still open')
  expect(text('huge')).toMatch(/Net return \d\.\d × 10²² %/)
})

test('the list and the sheet show when a strategy that goes on last traded, and the list when one ended', () => {
  const strategies = [
    { id: 'oak', name: 'Oak', returns: [0.01, 0.02], ended: { on: '2024-01-02', reason: 'closed' } },
    { id: 'elm', returns: [0.01, 0.02], idle_since: '2024-01-01' },
    { id: 'yew', returns: [0.01, 0.02] },
  ]
  const textOf = (file: string) =>
    pagesOf(handSnapshot(strategies)).get(file)!()
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
  const list = textOf('index.html')
  expect(list).toContain('Oak ended 2 January 2024')
  expect(list).toContain('elm last trade 1 January 2024')
  expect(list.match(/ended \d|last trade \d/g)).toHaveLength(2)
  expect(textOf('strategies/elm/sheet.html')).toContain('Last trade 1 January 2024 ; the time since is')
})
