// The pages in Chromium for every reader: on a phone, on paper, with a keyboard, and with any names.
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { ASSETS } from '#pages/assets.ts'
import { fileKey, PAGE_HEADERS, PAGE_TYPE } from '#pages/page-routes.ts'
import { aLiveRecord, aNight, type HandStrategy, handSnapshot } from '../support/books/hand-snapshot.ts'
import { oddBook } from '../support/books/odd-book.ts'
import { pagesOf } from '../support/browser/rendered-pages.ts'
import { inaccessibleOn, openPage, type PageOptions, photograph } from '../support/browser/shared-browser.ts'
import { start } from '../support/http/raw-server.ts'

const wave = (days: number, phase: number): number[] =>
  Array.from({ length: days }, (_, i) => Math.sin(i * 1.7 + phase) * Math.cos(i / 40 + phase) * 0.02 + 0.0003)

const trades = (first: string) =>
  Array.from({ length: 40 }, (_, i) => {
    const entry_time = parseIsoDate(first)! * 86_400_000 + i * 5e8
    return { entry_time, exit_time: entry_time + (i + 1) * 3e6, account_return: Math.sin(i) / 30 }
  })

/** Three versions: the first of many strategies, one that restated, one after a version that could not be read. */
const LINEAGE: Snapshot['dataset']['lineage'] = ['2024-05-30', '2024-05-31', '2024-06-01'].map((day, i) => ({
  version: `${day}T00:15:00Z`,
  entered: null,
  previous: i === 0 ? null : `2024-05-${29 + i}T00:15:00Z`,
  added: i === 0 ? Array.from({ length: 30 }, (_, n) => `${'long-id-'.repeat(7)}${n}`) : [],
  removed: i === 1 ? ['gone'] : [],
  restated:
    i === 1 ? [{ id: 's', daily: 1200, weekly: 170, trades: 3, base_risk: true, module_version: true }] : [],
  definitions: i === 1 ? ['fund_dd/risk_adjusted/probabilistic_sharpe_ratio', 'cagr_pct'] : [],
  not_compared: i === 2 ? ['2024-05-30T12:15:00Z'] : [],
  changed: i === 1 ? ['Changed: trials of s, 40 -> 1.'] : null,
  declared: i === 1 ? [{ what: 'restate', of: 's', reason: 'wrong prices' }] : [],
}))

/** As long as that of the sample book. */
const ACCEPTED = {
  ...{ finding: 'sign', of: 's', strategies: ['s'], count: 1, from: '2024-01-01', to: '2024-01-02' },
  what: '1 trade with a gain of the account and a loss of the prices, or the other way round',
  reason: 'the long was paid funding, which is in its result and in no price',
}

/** A strategy of as many years with all that a sheet can say of one, beside another. */
function bookOf(years: number, names: readonly [string, string] = ['A strategy', 'Another']): Snapshot {
  const first = `${2024 - years}-06-01`
  const days = Math.round(years * 365.25)
  const common: Omit<HandStrategy, 'id'> = {
    first,
    returns: wave(days, 0),
    trades: trades(first),
    published_since: `${2024 - years / 4}`.slice(0, 4) + '-01-01T00:15:00Z',
    marking: 'marked',
    engine: 'Highwater replay on closed bars',
    data_source: 'Bars of one hour of the exchange, with its funding',
    leverage_typical: 0.7,
    leverage_max: 2.6,
    night: aNight(first, wave(days, 1)),
  }
  const [name, other] = names
  const { live, seals } = aLiveRecord(trades(first).slice(4), '2024-05-30')
  return handSnapshot(
    [
      { id: 's', ...common, live, name, blurb: name.repeat(2), verification_state: 'dual_verified' },
      { id: 'o', ...common, name: other, returns: wave(days, 2) },
    ],
    {
      synthetic: true,
      seals,
      lineage: LINEAGE,
      disclaimer:
        'Historical or modelled results, published for professional use. They were not achieved by an account. '.repeat(
          5,
        ),
    },
    [
      {
        instrument: 'BTCUSDT-PERP',
        daily: { period: 'daily', first: parseIsoDate(first)!, values: Float64Array.from(wave(days, 4)) },
      },
    ],
  )
}

const SHEET = 'strategies/s/sheet.html'

/** Names that no page may be widened, broken or turned around by. */
const WORST = [
  ['W'.repeat(200), `"'><img src=x onerror=alert(1)></title></script>`],
  ['تحوط البيتكوين اليومي مع إيقاف', '👩‍👩‍👧‍👦🚀'.repeat(20)],
] as const

/**
 * A server of the pages of a snapshot, without a store: they are rendered when they are asked for, with no other file but
 * their assets, and it answers that this version is the newest. Gives the address of a file.
 */
async function serve(snapshot: Snapshot): Promise<(file: string) => string> {
  const { version } = snapshot.dataset
  const pathOf = (name: string) => `/${fileKey(version, name)}`
  const pages = new Map([...pagesOf(snapshot)].map(([name, render]) => [pathOf(name), render]))
  const assets = new Map(ASSETS.map(asset => [pathOf(asset.file), asset]))
  const { url } = await start(async request => {
    const { pathname } = new URL(request.url)
    const [asset, render] = [assets.get(pathname), pages.get(pathname)]
    if (asset !== undefined)
      return new Response(Buffer.from(asset.bytes), { headers: { 'content-type': asset.mediaType } })
    if (render !== undefined)
      return new Response(render(), { headers: { ...PAGE_HEADERS, 'content-type': PAGE_TYPE } })
    if (pathname === '/version') return Response.json({ data: { dataset_version: version } })
    return new Response(null, { status: 404 })
  })
  return file => url + pathOf(file)
}

const open = async (snapshot: Snapshot, file: string, options: PageOptions = {}) =>
  openPage((await serve(snapshot))(file), options)

const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth')

test.each([1, 25])('a sheet of %i years prints on one page of A4 and of Letter', async years => {
  const book = bookOf(years)
  const dataset = { ...book.dataset, accepted_findings: [ACCEPTED] }
  const { page, complaints } = await open({ ...book, dataset }, SHEET)
  for (const format of ['A4', 'Letter']) {
    const pdf = (await page.pdf({ format })).toString('latin1')
    expect([format, pdf.match(/\/Type\s*\/Page\b/g)?.length]).toEqual([format, 1])
  }
  await page.emulateMedia({ media: 'print' })
  const printed =
    'headline equity underwater months years drawdowns record publication evidence benchmark cite'
  for (const name of printed.split(' '))
    expect(await page.locator(`section.${name}`).isVisible(), name).toBe(true)
  for (const name of ['live', 'rolling', 'trades', 'excursions', 'replays', 'costs', 'correlation'])
    expect(await page.locator(`section.${name}`).isVisible(), name).toBe(false)
  expect(complaints).toEqual([])
})

test('a book of 100 strategies prints on three pages of Letter, the shorter paper, at most, with the columns named and every row', async () => {
  const { page, complaints } = await open(oddBook(100), 'index.html')
  const pdf = (await page.pdf({ format: 'Letter' })).toString('latin1')
  expect(pdf.match(/\/Type\s*\/Page\b/g)!.length).toBeLessThanOrEqual(3)
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('#strategies tr:visible').count()).toBe(101)
  expect(await page.locator('#strategies thead').innerText()).toMatch(/Strategy\s+Net return\s+CAGR/)
  expect(complaints).toEqual([])
})

test('at 390, 768 and 1280 pixels every cell of the table of strategies is inside of the table', async () => {
  const { page } = await open(oddBook(), 'index.html')
  for (const width of [390, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    const cut = await page.evaluate(`(() => {
    const { left, right } = document.querySelector('.scroll:has(#strategies)').getBoundingClientRect()
    return [...document.querySelectorAll('#strategies tbody :is(th, td, time, .badge, data)')]
      .filter(each => !each.checkVisibility() || each.getBoundingClientRect().right > right + 1 || each.getBoundingClientRect().left < left - 1)
      .map(each => each.outerHTML)
  })()`)
    expect([width, cut]).toEqual([width, []])
  }
})

test.each([
  [390, 'light'],
  [1440, 'dark'],
] as const)(
  'at %i pixels in %s every page of the worst names is accessible, moves nothing while it loads, and fits a phone',
  async (width, colorScheme) => {
    const snapshot = bookOf(2, WORST[colorScheme === 'light' ? 0 : 1])
    const addressOf = await serve(snapshot)
    const { page, complaints } = await openPage(addressOf(SHEET), { width })
    await page.emulateMedia({ colorScheme })
    await page.addInitScript(`globalThis.shifts = []
      new PerformanceObserver(list => shifts.push(...list.getEntries().map(entry => entry.value)))
        .observe({ type: 'layout-shift', buffered: true })`)
    for (const file of pagesOf(snapshot).keys()) {
      if (file.startsWith('strategies/o/')) continue
      await page.setViewportSize({ width, height: 900 })
      await page.goto(addressOf(file))
      await page.waitForLoadState('networkidle')
      expect([file, await widthOf(page), await page.evaluate('shifts')]).toEqual([file, width, []])
      expect([file, await inaccessibleOn(page)]).toEqual([file, []])
      expect([file, complaints]).toEqual([file, []])
      await photograph(page, `worst-${file}-${width}-${colorScheme}`)
      await page.setViewportSize({ width: 390, height: 900 })
      expect([file, await widthOf(page)]).toEqual([file, 390])
    }
  },
)

/** The pages of a book of a year, for the tests that follow. */
let ofYear: (file: string) => string
beforeAll(async () => {
  ofYear = await serve(bookOf(1))
})

test.each([SHEET, 'index.html', 'explore.html', 'check.html'])(
  'the Tab key reaches every control of %s, in the order of the page',
  async file => {
    const { page } = await openPage(ofYear(file))
    await page.locator('svg.chart[tabindex], button').first().waitFor()
    await page.waitForLoadState('networkidle') // what the page loads may show further controls
    const count = await page.evaluate<number>(`
      globalThis.controls = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
        .filter(element => element.checkVisibility() && !element.disabled)
      controls.length`)
    expect(count).toBeGreaterThan(10)
    await page.evaluate(`globalThis.reached = []
      document.addEventListener('focusin', ({ target }) => {
        if (reached.at(-1) !== controls.indexOf(target)) reached.push(controls.indexOf(target)) // a date has several stops
      })`)
    let reached: number[] = []
    for (let presses = 0; !reached.includes(count - 1) && presses < 2 * count; presses++) {
      await page.keyboard.press('Tab')
      if (presses % 8 === 7) reached = await page.evaluate('reached')
    }
    reached = reached.slice(0, reached.indexOf(count - 1) + 1)
    expect(reached).toEqual(Array.from({ length: count }, (_, i) => i))
  },
)

test.each([390, 1280])(
  'at %i pixels a name opens its definition and a state its explanation by the keyboard, inside the window, and Escape closes it',
  async width => {
    const { page } = await openPage(ofYear(SHEET), { width })
    for (const control of ['.term', '.badge', '.figures .term']) {
      const button = page.locator(control).first()
      await button.press('Enter')
      const popover = page.locator(':popover-open')
      expect((await popover.textContent())!.length).toBeGreaterThan(40)
      const { x, width: wide } = (await popover.boundingBox())!
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + wide).toBeLessThanOrEqual(width)
      await page.keyboard.press('Escape')
      expect(await popover.count()).toBe(0)
      expect(await button.evaluate(element => element === element.ownerDocument.activeElement)).toBe(true)
    }
  },
)

test('an address that makes no sense has a page with a sentence that is not wider than a phone', async () => {
  const { page } = await openPage(ofYear(SHEET), { width: 390 })
  for (const [address, sentence] of [
    [`${SHEET}?risk_pct=${'W'.repeat(300)}&from=never`, 'is not used'],
    [`explore.html?with=${'nobody,'.repeat(200)}x&weights=x&risk_pct=`, 'is not used'],
    [`index.html?${'q'.repeat(2000)}`, 'The history of 2 strategies'],
  ] as const) {
    await page.goto(ofYear(address))
    await page.getByText(sentence).first().waitFor()
    expect([address, await widthOf(page)]).toEqual([address, 390])
  }
})

test('without a script a level is chosen from a list, and nothing is shown that a script would need', async () => {
  const { page } = await openPage(ofYear(SHEET), { width: 390, javaScriptEnabled: false })
  expect(await page.getByRole('button', { name: 'Show' }).isVisible()).toBe(true)
  expect(await page.locator('[data-with-script]:visible').count()).toBe(0)
  await page.getByLabel('Risk a trade').and(page.locator('select')).selectOption('0.01')
  await page.getByRole('button', { name: 'Show' }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?risk_pct=0.01')
})
