// The pages in a real browser that reaches nothing but the service: what the scripts make of the published returns.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { parseIsoDate, toCompactInstant } from '#core/calendar.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { riskLevel } from '#core/dataset/resources/risk-level.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { dayFigures, startDates } from '#core/figures/risk-profile.ts'
import { parseReturns, parseTrades } from '#pages/browser/load-returns.ts'
import { chartCsv } from '#pages/chart-data.ts'
import { readChoice } from '#pages/explore/choice.ts'
import { exploreFacts, exploreModel } from '#pages/explore/model.ts'
import { dayText } from '#pages/format.ts'
import { riskSteps } from '#pages/risk-steps.ts'
import type { SheetFacts } from '#pages/sheet/facts.ts'
import { sheetModel } from '#pages/sheet/model.ts'
import { equityChart, LATER, rollingCharts } from '#pages/sheet/sections.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore } from '#storage/open-store.ts'
import { orderOf, renderHere } from '#test/static-build/hand-order.ts'
import { keyOf, newSigner } from '#test/static-build/signed-store.ts'
import { handSnapshot } from '../support/books/hand-snapshot.ts'
import { expectReadable, openPage, type PageOptions, textOf } from '../support/browser/shared-browser.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { openHistoryApp } from '../support/history/history-app.ts'
import { start } from '../support/http/raw-server.ts'
import { lastingFolder, temporaryFolder } from '../support/temporary-folder.ts'

const wave = (length: number, phase: number, size = 0.02): number[] =>
  Array.from({ length }, (_, i) =>
    Number((size * (0.06 + Math.sin(i * 1.7 + phase) * Math.cos(i / 40 + phase))).toPrecision(10)),
  )

/** Four histories: a long one with trades and its instrument, one at another base risk, one that is ruined, one of a day. */
const BOOK: Snapshot = handSnapshot(
  [
    {
      ...{ id: 'birch', name: 'Birch', first: '2021-01-01', returns: wave(1300, 0) },
      ...{ verification_state: 'dual_verified', leverage_max: 2.6 },
      trades: [0.02, -0.01, 0.02].map((account_return, i) => ({
        ...{ entry_time: (i + 1) * 1e7, exit_time: (i + 1) * 1e7 + 9e6, account_return },
      })),
    },
    {
      ...{
        id: 'hazel',
        name: '<b>Hazel</b> & "co"',
        first: '2022-03-02',
        returns: wave(800, 2, 0.01).with(400, -0.033),
      },
      ...{ base_risk_pct: 0.01, leverage_max: 1.7 },
    },
    { id: 'stump', name: 'Stump', first: '2023-03-02', returns: [0.1, -1, ...wave(40, 1)] },
    { id: 'twig', name: 'Twig', first: '2024-05-01', returns: [0.01] },
  ],
  {
    ...{ name: 'Pages', max_modelled_risk_pct: 0.5 },
    stress_periods: [{ name: 'A fall', from: '2022-05-01', to: '2022-06-30' }],
  },
  [
    {
      instrument: 'BTCUSDT-PERP',
      daily: { period: 'daily', first: 18628, values: Float64Array.from(wave(1300, 4, 0.03)) },
    },
  ],
)

const VERSION_ROOT = `/v1/snapshots/${toCompactInstant(BOOK.dataset.version)}/`
const SHEET = `${VERSION_ROOT}strategies/birch/sheet.html`
const BOOK_PAGE = `${VERSION_ROOT}index.html`
const EXPLORER = `${VERSION_ROOT}explore.html`
const CHECK = `${VERSION_ROOT}check.html`
const LEVELS = riskSteps(0.5, 0.02)

const signer = newSigner()
let app: Awaited<ReturnType<typeof openHistoryApp>>['app']
let origin: string

beforeAll(async () => {
  const { href } = pathToFileURL(join(await lastingFolder(), 'store'))
  const stores = { url: href, privateUrl: `${href}.private` }
  const opened = { store: await openStore(stores.url), privateStore: await openStore(stores.privateUrl) }
  const order = orderOf(BOOK.dataset.version, opened)
  await publishVersion({ ...order, snapshot: BOOK, signer, render: renderHere })
  app = (await openHistoryApp(stores)).app
  origin = (await start(app.fetch)).url
})

const open = (path: string, options: PageOptions = {}) => openPage(origin + path, options)

/** What the service answers, without a wire. */
const read = async (path: string): Promise<string> => (await app.request(path)).text()
const dataOf = async <Data = Readonly<Record<string, unknown>>>(path: string): Promise<Data> =>
  (JSON.parse(await read(path)) as { readonly data: Data }).data
const statsOf = (query: string) => dataOf(`/v1/strategies/birch/stats${query}`)

const isDrawn = (page: Page) => page.locator('main[aria-busy=false]').waitFor()
const queryOf = (page: Page): string => new URL(page.url()).search

/** The sections that the night draws, as they are drawn, without what a reader of a chart adds. */
const sectionsOf = (page: Page) =>
  page.locator('[data-section]').evaluateAll(
    (places, later) =>
      places
        .filter(place => !later.includes(place.getAttribute('data-section')!))
        .map(place => {
          for (const added of place.querySelectorAll('.readout, .cursor')) added.remove()
          for (const svg of place.querySelectorAll('svg')) svg.removeAttribute('tabindex')
          return place.innerHTML
        }),
    LATER as readonly string[],
  )

/** What stands at a path such as `year_ahead/return_p5_pct`. */
const valueAt = (data: object, path: string): unknown =>
  path.split('/').reduce<unknown>((found, name) => Object(found)[name], data)

async function expectStats(page: Page, query: string): Promise<void> {
  const { year_ahead } = await dataOf<{ readonly year_ahead: object }>(`/v1/strategies/birch/risk${query}`)
  const expected = { ...(await statsOf(query)), year_ahead }
  const shown = await page
    .locator('[data-figure]')
    .evaluateAll(places =>
      places.map(place => [place.getAttribute('data-figure')!, place.querySelector('data')!.value] as const),
    )
  expect(shown).toHaveLength(23)
  expect([query, shown]).toEqual([
    query,
    shown.map(([name]) => [name, String(valueAt(expected, name) ?? '')]),
  ])
}

/** The file that a click saves. */
async function saved(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator(button).click()])
  return textOf(download)
}

/** Days and equity in a CSV, without its header and its other columns. */
const equityIn = (csv: string): string[] =>
  csv
    .split('\r\n')
    .slice(1, -1)
    .map(row => row.split(',').slice(0, 2).join())

const queryAt = (level: number): string => (level === 0.02 ? '' : `?risk_pct=${level}`)
/** A table of the API as CSV, without its header; cells of rows. */
async function rowsAt(sid: string, table: string, query: string): Promise<string[][]> {
  const csv = await read(`/v1/strategies/${sid}/${table}${query}${query ? '&' : '?'}format=csv`)
  return csv
    .split('\r\n')
    .slice(1, -1)
    .map(row => row.split(','))
}
const curveOf = async (query: string): Promise<string[]> =>
  (await rowsAt('birch', 'curve', query)).map(cells => cells.slice(0, 2).join())

/** The last of each period, up to that of a ruin, over the last of the one before: `digits` of a date name a period. */
function periodReturns(curve: readonly string[][], digits: number): number[] {
  const ends = [...new Map(curve.map(([t, equity]) => [t!.slice(0, digits), Number(equity)])).values()]
  return ends.flatMap((end, i) => (ends[i - 1] === 0 ? [] : 100 * (end / (ends[i - 1] ?? 1) - 1)))
}

/** Steps of the slider, and levels between them, which an address may have. */
const BETWEEN = LEVELS.slice(1).map((step, i) => Number(((step + LEVELS[i]!) / 2).toPrecision(4)))
const ALL_LEVELS = [...LEVELS, ...BETWEEN.filter((_, i) => i % 4 === 0)]

test.each([
  ['birch', 'usual', 0],
  ['hazel', 'ruined at high levels', 0.3],
])(
  'the code of a fact sheet computes at 60 levels and more the digits of the API for %s, which is %s',
  async (sid, _, ruinedFrom) => {
    expect(ALL_LEVELS.length).toBeGreaterThanOrEqual(60)
    const folder = `${VERSION_ROOT}strategies/${sid}/`
    const [, json = ''] = /id="facts">(.*?)<\/script>/s.exec(await read(`${folder}sheet.html`)) ?? []
    const facts = JSON.parse(json) as SheetFacts // what the page gives its script
    const seriesIn = async (file: string, period: 'daily' | 'weekly') =>
      parseReturns(await read(folder + file), period).get('ret')!
    const held = parseReturns(await read(`${VERSION_ROOT}benchmark.csv`), 'daily')
    const series = {
      daily: await seriesIn('returns.daily.csv', 'daily'),
      weekly: await seriesIn('returns.weekly.csv', 'weekly'),
      ...{ benchmark: held.get(facts.instrument)!, book: null },
      trades: parseTrades(await read(`${folder}trades.csv`)),
    }
    for (const [i, level] of ALL_LEVELS.entries()) {
      const requested = level === facts.base_risk_pct ? null : level
      const query = requested === null ? '' : `?risk_pct=${level}`
      const model = sheetModel(facts, series, riskLevel(requested, facts.max_modelled_risk_pct))
      const { path, figures } = model
      const stats = await dataOf(`/v1/strategies/${sid}/stats${query}`)
      expect([level, stats]).toEqual([level, expect.objectContaining(figures)])
      expect([figures.ruined, toPercent(facts.leverage_max! * path.k)]).toEqual([
        ruinedFrom > 0 && level > ruinedFrom,
        stats.leverage_max,
      ])
      const curve = await rowsAt(sid, 'curve', query)
      const [opening, ...drawn] = equityIn(chartCsv(equityChart(model)))
      expect([opening!.endsWith(',1'), drawn]).toEqual([true, curve.map(cells => cells.slice(0, 2).join())])
      const close = (values: readonly number[]) => values.map(value => expect.closeTo(value, 5))
      const returns = ({ table }: { readonly table: readonly { readonly return_pct: number }[] }) =>
        table.map(({ return_pct }) => return_pct)
      expect(returns(model.monthly)).toEqual(close(periodReturns(curve, 7)))
      expect(returns(model.annual)).toEqual(close(periodReturns(curve, 4)))
      const equities = new Map(curve.map(([t, equity]) => [t, Number(equity)]))
      expect(model.worst.map(({ depth_pct }) => depth_pct)).toEqual(
        close(
          model.worst.map(row => 100 * (equities.get(row.trough_t)! / (equities.get(row.peak_t) ?? 1) - 1)),
        ),
      )
      expect(Math.min(...model.worst.map(({ depth_pct }) => depth_pct))).toBeCloseTo(
        Number(figures.max_drawdown_pct),
        5,
      )
      if (i % 5 > 0) continue // what takes longest to compute, at a fifth of the levels
      const published = (block: Parameters<typeof splitFigures>[0]) =>
        publishFigures(splitFigures(block).values)
      expect(await dataOf(`/v1/strategies/${sid}/risk${query}`)).toMatchObject({
        year_ahead: model.ahead,
        ...publishFigures({ start_dates: startDates(path.daily, path.k) }),
        ...published({ days: dayFigures(path), stress: model.stress }),
      })
      const rows = await rowsAt(sid, 'rolling', query)
      const rolled = rollingCharts(model).map(chart => equityIn(chartCsv(chart)).slice(364))
      expect(rolled).toEqual([3, 2].map(column => rows.map(cells => `${cells[0]},${cells[column]}`)))
    }
  },
)

test('a fact sheet has at the lowest, the base and the highest level of its slider the digits of /stats and /curve', async () => {
  const { page, complaints } = await open(SHEET)
  await expectStats(page, '')
  await page.getByRole('button', { name: 'Tables and CSV' }).click()
  await page.locator('[data-csv=equity]').waitFor()
  const slider = page.getByRole('slider', { name: 'Risk a trade' })
  expect(await slider.getAttribute('max')).toBe(String(LEVELS.length - 1))
  for (const level of [LEVELS[0]!, LEVELS.at(-1)!, 0.02]) {
    await slider.fill(String(LEVELS.indexOf(level)))
    const query = queryAt(level)
    await expect.poll(() => queryOf(page)).toBe(query)
    await isDrawn(page)
    await expectStats(page, query)
    expect(equityIn(await saved(page, '[data-csv=equity]'))).toEqual([
      '2020-12-31,1',
      ...(await curveOf(query)),
    ])
  }
  expect(complaints).toEqual([])
})

test('a fact sheet takes its level from the address, clamped as by the API, and shows base risk and a sentence if it makes no sense', async () => {
  const { page, complaints } = await open(`${SHEET}?risk_pct=0.0504`)
  await isDrawn(page)
  await expectStats(page, '?risk_pct=0.0504')
  expect(await page.locator('#risk-output').textContent()).toBe('5.04 %')
  expect(await page.getByRole('slider').inputValue()).toBe(String(LEVELS.indexOf(0.05)))
  await page.goto(`${origin}${SHEET}?risk_pct=0.9`)
  await isDrawn(page)
  await expectStats(page, '?risk_pct=0.9')
  expect(await page.locator('#risk .note').textContent()).toContain('90 % is above the cap')
  await page.goto(`${origin}${SHEET.replace('birch', 'stump')}?from=2023-03-10`)
  await page.getByRole('alert').getByText('begins after the ruin at this level: all days').waitFor()
  expect(await page.locator('[aria-pressed=true]').textContent()).toBe('all')
  await page.goto(`${origin}${SHEET}?risk_pct=much`)
  await page.getByRole('alert').getByText('must be a plain decimal number').waitFor()
  await expectStats(page, '')
  expect(complaints).toEqual([])
})

test('a fact sheet draws in the browser what the night drew', async () => {
  const { page } = await open(SHEET)
  const night = await sectionsOf(page)
  await page.getByRole('slider').fill('0')
  await isDrawn(page)
  expect(await sectionsOf(page)).not.toEqual(night)
  await page.getByRole('slider').fill(String(LEVELS.indexOf(0.02)))
  await isDrawn(page)
  expect(await sectionsOf(page)).toEqual(night)
})

test('a chart of a fact sheet is read by arrow keys and pointer, and a dragged range stays in the address', async () => {
  const { page, complaints } = await open(SHEET)
  const chart = page.locator('[data-section=equity] svg.chart')
  const readout = page.locator('[data-section=equity] .readout')
  await chart.focus()
  await isDrawn(page)
  await chart.focus()
  await page.keyboard.press('End')
  const last = dayText(String((await statsOf('')).end))
  expect(await readout.textContent()).toMatch(new RegExp(`^${last}: Birch [\\d.]+×, Holding BTCUSDT-PERP`))
  expect(await readout.getAttribute('aria-live')).toBe('polite')
  await page.keyboard.press('ArrowLeft')
  expect(await readout.textContent()).not.toContain(last)
  const box = (await chart.boundingBox())!
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 4 })
  expect(await readout.getAttribute('aria-live')).toBe('off')
  await page.mouse.up()
  await expect.poll(() => queryOf(page)).toMatch(/from=.*to=/)
  const query = new URL(page.url()).searchParams
  const [from, to] = [parseIsoDate(query.get('from')!)!, parseIsoDate(query.get('to')!)!]
  expect(to - from).toBeGreaterThan(280)
  expect(to - from).toBeLessThan(380)
  await isDrawn(page)
  await page.getByRole('button', { name: 'all' }).click()
  await expect.poll(() => queryOf(page)).toBe('')
  expect(complaints).toEqual([])
})

test('the page of the book draws in the browser what the night drew, in a range that the address keeps', async () => {
  const { page, complaints } = await open(BOOK_PAGE)
  const night = await sectionsOf(page)
  expect(night).toHaveLength(2)
  await page.getByRole('button', { name: '1 y' }).click()
  await expect.poll(() => queryOf(page)).toBe('?from=2023-07-25')
  await isDrawn(page)
  const year = await sectionsOf(page)
  expect(year).not.toEqual(night)
  await page.reload()
  await isDrawn(page)
  expect(await sectionsOf(page)).toEqual(year)
  await page.getByRole('button', { name: 'All days' }).click()
  await expect.poll(() => queryOf(page)).toBe('')
  await isDrawn(page)
  expect(await sectionsOf(page)).toEqual(night)
  expect(complaints).toEqual([])
})

test('the charts of the book have the equity of the API as CSV', async () => {
  const { page, complaints } = await open(BOOK_PAGE)
  await page.getByRole('button', { name: 'Tables and CSV' }).click()
  const csv = await saved(page, 'button:text("CSV: Equity of the equal-weight book")')
  const rows = csv.trimEnd().split('\r\n')
  expect(rows[0]).toBe('t,Equal-weight book,Holding BTCUSDT-PERP')
  const { equal_weight_book } = await dataOf<{
    readonly equal_weight_book: { readonly n_days: number; readonly net_return_pct: number }
  }>('/v1/summary')
  expect(rows).toHaveLength(1 + equal_weight_book.n_days)
  expect(100 * (Number(rows.at(-1)!.split(',')[1]) - 1)).toBeCloseTo(equal_weight_book.net_return_pct, 5)
  expect(complaints).toEqual([])
})

test('a page says that a newer version is published, with a link to the same page of it', async () => {
  const { page } = await open(SHEET)
  expect(await page.locator('#newer').isVisible()).toBe(false)
  const newer = { data: { dataset_version: '2024-06-02T00:15:00Z' } }
  await page.route('**/version', route => route.fulfill({ json: newer }))
  await page.reload()
  const link = page.getByRole('link', { name: 'Open version 2024-06-02T00:15:00Z' })
  await link.waitFor()
  expect(await link.getAttribute('href')).toBe(
    `${origin}/v1/snapshots/20240602T001500Z/strategies/birch/sheet.html`,
  )
})

test('every page is cited by its address, with the host that serves it, and a button copies the citation', async () => {
  const { page, context, complaints } = await open(SHEET)
  const names = ['versions.html', 'index.html', 'explore.html', 'check.html', 'strategies/birch/sheet.html']
  for (const name of names) {
    await page.goto(origin + VERSION_ROOT + name)
    await expect.poll(() => page.locator('cite #address').textContent()).toBe(page.url())
  }
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy the citation' }).click()
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(copied).toMatch(/^Birch, Pages, version 2024-06-01T00:15:00Z, .*sheet\.html$/)
  expect(complaints).toEqual([])
})

test('the explorer computes a portfolio of what is chosen, and the address holds the choice', async () => {
  const { page, complaints } = await open(EXPLORER)
  await page.getByLabel('Choose Birch').check()
  await page.getByLabel('Choose <b>Hazel</b>').check()
  await page.getByLabel('Weight of <b>Hazel</b>').waitFor()
  await page.getByLabel('Weight of Birch').fill('3')
  await page.keyboard.press('Tab')
  await page.getByLabel('Risk a trade').selectOption('0.01')
  const query = '?risk_pct=0.01&weights=3,1&with=birch,hazel'
  await expect.poll(() => queryOf(page)).toBe(query)
  const { portfolio, members, charts } = exploreModel(
    exploreFacts(BOOK),
    new Map(BOOK.strategies.map(({ id, daily }) => [id, daily])),
    readChoice(new URLSearchParams(query), new Set(['birch', 'hazel'])).choice,
  )
  const cells = () =>
    page
      .locator('[data-section=figures] tr:has-text("Portfolio") data')
      .evaluateAll(all => all.map(cell => cell.getAttribute('value')))
  await expect.poll(cells).toContain(String(portfolio!.figures.net_return_pct))
  const lines = [portfolio!, ...members].map(({ id, kind, daily }) => ({ name: id, kind, ...daily }))
  const csv = await saved(page, 'button:text("CSV of the portfolio")')
  expect(csv).toBe(chartCsv({ lines, days: charts!.equity.days }))
  const before = await page.locator('[data-section=figures]').innerHTML()
  await page.reload()
  await expect.poll(() => page.locator('[data-section=figures]').innerHTML()).toBe(before)
  expect(await page.getByLabel('Weight of Birch').inputValue()).toBe('3')
  await page.getByRole('button', { name: 'Remove Birch' }).click()
  await expect.poll(() => queryOf(page)).toBe('?risk_pct=0.01&weights=1&with=hazel')
  expect(complaints).toEqual([])
})

test('the explorer sorts and filters the table of all strategies, and the address holds the filters beside the choice', async () => {
  const { page } = await open(EXPLORER)
  const names = () => page.locator('#strategies tbody tr:visible a').allTextContents()
  await page.locator('#strategies thead').getByRole('button', { name: 'Max drawdown' }).click()
  expect(await names()).toEqual(['Birch', '<b>Hazel</b> & "co"', 'Twig', 'Stump']) // short and ruined ones stay last
  await page.getByRole('searchbox').fill('HAZEL')
  expect(await names()).toEqual(['<b>Hazel</b> & "co"'])
  const matches = page.locator('#strategies-matches')
  expect(await matches.textContent()).toBe('1 of 4 strategies')
  await page.getByRole('searchbox').fill('')
  await page.getByLabel('Choose Birch').check()
  await page.getByLabel('Days, at least').fill('2')
  await page.getByLabel('State').selectOption('running')
  await page.getByLabel('Verified').selectOption('unverified')
  expect(queryOf(page)).toBe('?min_days=2&state=running&verified=unverified&with=birch')
  await page.reload()
  expect(await names()).toEqual(['<b>Hazel</b> & "co"'])
  await page.getByLabel('State').selectOption('ruined')
  expect(await names()).toEqual(['Stump'])
  expect(await matches.textContent()).toBe('1 of 4 strategies')
  await page.getByLabel('Choose Birch', { exact: true }).waitFor({ state: 'hidden' })
})

test('the explorer lists every strategy without a script, and says that choosing needs one', async () => {
  const { page } = await open(EXPLORER, { javaScriptEnabled: false })
  expect(await page.locator('#strategies tbody tr').count()).toBe(4)
  expect(await page.getByText('allow scripts of this site').isVisible()).toBe(true)
  expect(await page.getByRole('checkbox').count()).toBe(0)
})

/** What the page on checking finds of Birch. */
async function findingsOn(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Check' }).click()
  await page.locator('#check button:enabled').waitFor()
  return page.locator('#findings li').allTextContents()
}

test('the page on checking passes manifest, log, signatures and files, and prints the fingerprint of the key', async () => {
  const { page, complaints } = await open(`${CHECK}?of=birch`)
  const lines = await findingsOn(page)
  expect(lines.map(line => line.split('. ')[0])).toEqual(
    ['Manifest', 'Log', 'Signatures', 'Files'].map(step => `Passed: ${step}`),
  )
  expect(lines[2]).toContain(keyOf(signer).fingerprint)
  expect(complaints).toEqual([])
})

test.each([
  ['manifest.json', 'Failed: Log', 'is not the one that'],
  ['manifest.json.sig', 'Failed: Signatures', 'No published key made manifest.json.sig'],
  ['strategies/birch/returns.daily.csv', 'Failed: Files', 'is not the file that was published'],
])('the page on checking fails if %s was changed', async (file, step, sentence) => {
  const { page } = await open(`${CHECK}?of=birch`)
  await page.route(`**/${file}`, async route => {
    const response = await route.fetch()
    const body = await response.body()
    body[body.length - 2]! ^= 1
    await route.fulfill({ response, body })
  })
  const last = (await findingsOn(page)).findLast(line => line.startsWith('Failed'))
  expect(last).toContain(step)
  expect(last).toContain(sentence)
})

test('the commands of the page on checking pass in a shell', async () => {
  const { page } = await open(CHECK)
  const commands = await page.locator('[aria-labelledby=hand] pre').innerText()
  const script = commands.replace('https://data.example.org', origin)
  const cwd = await temporaryFolder()
  const { code, stdout } = await startProcess('sh', ['-euc', script], { cwd }).ended
  expect(stdout).toContain(`${keyOf(signer).fingerprint}  -`)
  expect(stdout).toContain('Signature Verified Successfully')
  expect(stdout).toContain('strategies/birch/sheet.html: OK')
  expect(code).toBe(0)
})

test.each([`${SHEET}?risk_pct=0.01`, `${EXPLORER}?with=birch,hazel,stump`])(
  'what the script draws on %s is accessible, keeps its policy, and is not wider than the window',
  async path => {
    const { page, complaints } = await open(path)
    await isDrawn(page)
    await expectReadable(page, path.slice(VERSION_ROOT.length))
    expect(complaints).toEqual([])
  },
)
