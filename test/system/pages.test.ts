// The pages in a real browser that reaches nothing but the service: what the scripts make of the published returns.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { chartCsv } from '#pages/chart-data.ts'
import { readChoice } from '#pages/explore/choice.ts'
import { exploreFacts, exploreModel } from '#pages/explore/model.ts'
import { riskSteps } from '#pages/risk-steps.ts'
import { keyOf } from '#test/static-build/signed-store.ts'
import { complaintsOf, PATIENCE_MS } from '../support/browser/chromium.ts'
import { PAGES_BOOK, PAGES_ROOT, servePages } from '../support/browser/served-pages.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

const SHEET = `${PAGES_ROOT}strategies/birch/sheet.html`
const EXPLORER = `${PAGES_ROOT}explore.html`
const LEVELS = riskSteps(0.5, 0.02)

type Stats = { readonly data: Readonly<Record<string, unknown>> }

describe('the pages in Chromium', () => {
  let served: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  beforeAll(async () => {
    served = await servePages()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  /** Opens a page with the network cut off. Complaints: what the policy forbids, what fails, what would leave the origin. */
  const open = async (path: string, width = 1280, colorScheme: 'light' | 'dark' = 'light') => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    await context.route('**/*', route => {
      if (route.request().url().startsWith(`${served.url}/`)) return route.continue()
      complaints.push(`asks for ${route.request().url()}`)
      return route.abort()
    })
    await page.goto(served.url + path)
    return { page, context, complaints }
  }
  const stats = async (query: string): Promise<Stats['data']> =>
    ((await (await fetch(`${served.url}/v1/strategies/birch/stats${query}`)).json()) as Stats).data
  const isDrawn = (page: Page) => page.locator('main[aria-busy=false]').waitFor()
  /** The sections as they are drawn, without what a reader of a chart adds. */
  const textsOf = (page: Page) =>
    page.locator('[data-section]').evaluateAll(places =>
      places.map(place => {
        for (const added of place.querySelectorAll('.readout, .cursor')) added.remove()
        for (const svg of place.querySelectorAll('svg')) svg.removeAttribute('tabindex')
        return place.innerHTML
      }),
    )

  describe('a fact sheet', () => {
    const figuresOn = (page: Page): Promise<[string, string][]> =>
      page
        .locator('[data-figure]')
        .evaluateAll(places =>
          places.map(place => [place.getAttribute('data-figure')!, place.querySelector('data')!.value]),
        )
    const expectStats = async (page: Page, query: string) => {
      const expected = await stats(query)
      const shown = await figuresOn(page)
      expect(shown).toHaveLength(5)
      expect([query, shown]).toEqual([query, shown.map(([name]) => [name, String(expected[name] ?? '')])])
    }

    test(`has at each of ${LEVELS.length} levels of the slider the digits of /stats and /curve`, async () => {
      expect(LEVELS.length).toBeGreaterThanOrEqual(50)
      const { page, context, complaints } = await open(SHEET)
      await expectStats(page, '')
      await page.getByRole('button', { name: 'Tables and CSV' }).click()
      await page.locator('[data-csv=equity]').waitFor()
      const slider = page.getByRole('slider', { name: 'Risk a trade' })
      for (const [i, level] of LEVELS.entries()) {
        await slider.fill(String(i))
        const query = level === 0.02 ? '' : `?risk_pct=${level}`
        await expect.poll(() => new URL(page.url()).search).toBe(query)
        await isDrawn(page)
        await expectStats(page, query)
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.locator('[data-csv=equity]').click(),
        ])
        const drawn = (await readFile(await download.path(), 'utf8')).split('\r\n').slice(1, -1)
        const curve = await fetch(
          `${served.url}/v1/strategies/birch/curve${query}${query ? '&' : '?'}format=csv`,
        )
        const published = (await curve.text()).split('\r\n').slice(1, -1)
        expect(published).toHaveLength(1300)
        expect(drawn.map(row => row.split(',').slice(0, 2).join())).toEqual(published)
      }
      expect(complaints).toEqual([])
      await context.close()
    })

    test('takes its level from the address, clamped as by the API, and the slider follows', async () => {
      const between = await open(`${SHEET}?risk_pct=0.0504`)
      await isDrawn(between.page)
      await expectStats(between.page, '?risk_pct=0.0504')
      expect(await between.page.locator('#risk-output').textContent()).toBe('5.04 %')
      expect(await between.page.getByRole('slider').inputValue()).toBe(String(LEVELS.indexOf(0.05)))
      const beyond = await open(`${SHEET}?risk_pct=0.9`)
      await isDrawn(beyond.page)
      await expectStats(beyond.page, '?risk_pct=0.9')
      expect(await beyond.page.locator('#risk .note').textContent()).toContain('90 % is above the cap')
      for (const { complaints, context } of [between, beyond]) {
        expect(complaints).toEqual([])
        await context.close()
      }
    })

    test('shows base risk and a sentence if the address makes no sense', async () => {
      const { page, context } = await open(`${SHEET}?risk_pct=much`)
      await page.getByRole('alert').getByText('must be a plain decimal number').waitFor()
      await expectStats(page, '')
      await context.close()
    })

    test('draws in the browser what the night drew', async () => {
      const { page, context } = await open(SHEET)
      const night = await textsOf(page)
      await page.getByRole('slider').fill('0')
      await isDrawn(page)
      expect(await textsOf(page)).not.toEqual(night)
      await page.getByRole('slider').fill(String(LEVELS.indexOf(0.02)))
      await isDrawn(page)
      expect(await textsOf(page)).toEqual(night)
      await context.close()
    })

    test('reads a chart by arrow keys and pointer, and keeps a dragged range in the address', async () => {
      const { page, context, complaints } = await open(SHEET)
      const chart = page.locator('[data-section=equity] svg.chart')
      const readout = page.locator('[data-section=equity] .readout')
      await chart.focus()
      await isDrawn(page)
      await page.locator('[data-section=equity] svg.chart').focus()
      await page.keyboard.press('End')
      const last = (await stats('')).end
      expect(await readout.textContent()).toMatch(
        new RegExp(`^${last}: Birch [\\d.]+×, Holding BTCUSDT-PERP`),
      )
      expect(await readout.getAttribute('aria-live')).toBe('polite')
      await page.keyboard.press('ArrowLeft')
      expect(await readout.textContent()).not.toContain(last)
      const box = (await chart.boundingBox())!
      await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 4 })
      expect(await readout.getAttribute('aria-live')).toBe('off')
      await page.mouse.up()
      await expect.poll(() => new URL(page.url()).search).toMatch(/from=.*to=/)
      const query = new URL(page.url()).searchParams
      const [from, to] = [parseIsoDate(query.get('from')!)!, parseIsoDate(query.get('to')!)!]
      expect(to - from).toBeGreaterThan(200)
      expect(to - from).toBeLessThan(320)
      await isDrawn(page)
      await page.getByRole('button', { name: 'All days' }).click()
      await expect.poll(() => new URL(page.url()).search).toBe('')
      expect(complaints).toEqual([])
      await context.close()
    })
  })

  describe('the page of the book', () => {
    test('draws in the browser what the night drew, in a range that the address keeps', async () => {
      const { page, context, complaints } = await open(`${PAGES_ROOT}index.html`)
      const night = await textsOf(page)
      expect(night).toHaveLength(2)
      await page.getByRole('button', { name: '1 y' }).click()
      await expect.poll(() => new URL(page.url()).search).toBe('?from=2023-07-24')
      await isDrawn(page)
      const year = await textsOf(page)
      expect(year).not.toEqual(night)
      await page.reload()
      await isDrawn(page)
      expect(await textsOf(page)).toEqual(year)
      await page.getByRole('button', { name: 'All days' }).click()
      await expect.poll(() => new URL(page.url()).search).toBe('')
      await isDrawn(page)
      expect(await textsOf(page)).toEqual(night)
      expect(complaints).toEqual([])
      await context.close()
    })

    test('reads its charts by arrow keys, and has the equity of the API as CSV', async () => {
      const { page, context, complaints } = await open(`${PAGES_ROOT}index.html`)
      const chart = page.locator('[data-section=equity] svg.chart')
      await chart.focus()
      await isDrawn(page)
      await chart.focus()
      await page.keyboard.press('End')
      const readout = page.locator('[data-section=equity] .readout')
      expect(await readout.textContent()).toMatch(
        /^2024-07-23: Equal-weight book [\d.]+×, Holding BTCUSDT-PERP/,
      )
      await page.getByRole('button', { name: 'Tables and CSV' }).click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV: Equity of the equal-weight book' }).click(),
      ])
      const rows = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
      expect(rows[0]).toBe('t,Equal-weight book,Holding BTCUSDT-PERP')
      const { data } = (await (await fetch(`${served.url}/v1/summary`)).json()) as {
        data: { equal_weight_book: { n_days: number; net_return_pct: number } }
      }
      const { n_days, net_return_pct } = data.equal_weight_book
      expect(rows).toHaveLength(1 + n_days)
      expect(100 * (Number(rows.at(-1)!.split(',')[1]) - 1)).toBeCloseTo(net_return_pct, 5)
      expect(complaints).toEqual([])
      await context.close()
    })
  })

  test('a page says that a newer version is published, with a link to the same page of it', async () => {
    const { page, context } = await open(SHEET)
    expect(await page.locator('#newer').isVisible()).toBe(false)
    const newer = { data: { dataset_version: '2024-06-02T00:15:00Z' } }
    await page.route('**/version', route => route.fulfill({ json: newer }))
    await page.reload()
    const link = page.getByRole('link', { name: 'Open version 2024-06-02T00:15:00Z' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe(
      `${served.url}/v1/snapshots/20240602T001500Z/strategies/birch/sheet.html`,
    )
    await context.close()
  })

  test('the citation is copied by a button', async () => {
    const { page, context } = await open(SHEET)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy the citation' }).click()
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(copied).toMatch(/^Birch, Pages, version 2024-06-01T00:15:00Z, .*sheet\.html$/)
    await context.close()
  })

  test('every page is cited by its address, with the host that serves it', async () => {
    const names = ['strategies/birch/sheet.html', 'index.html', 'explore.html', 'versions.html', 'check.html']
    for (const name of names) {
      const { page, context } = await open(PAGES_ROOT + name)
      await expect.poll(() => page.locator('cite #address').textContent()).toBe(page.url())
      await context.close()
    }
  })

  describe('the explorer', () => {
    test('computes a portfolio of what is chosen, and the address holds the choice', async () => {
      const { page, context, complaints } = await open(EXPLORER)
      await page.getByLabel('Choose Birch').check()
      await page.getByLabel('Choose <b>Hazel</b>').check()
      await page.getByLabel('Weight of <b>Hazel</b>').waitFor()
      await page.getByLabel('Weight of Birch').fill('3')
      await page.keyboard.press('Tab')
      await page.getByLabel('Risk a trade').selectOption('0.01')
      const query = '?risk_pct=0.01&weights=3,1&with=birch,hazel'
      await expect.poll(() => new URL(page.url()).search).toBe(query)
      const model = exploreModel(
        exploreFacts(PAGES_BOOK),
        new Map(PAGES_BOOK.strategies.map(({ id, daily }) => [id, daily])),
        readChoice(new URLSearchParams(query), new Set(['birch', 'hazel'])).choice,
      )
      const cells = () =>
        page
          .locator('[data-section=figures] tr:has-text("Portfolio") data')
          .evaluateAll(all => all.map(cell => cell.getAttribute('value')))
      await expect.poll(cells).toContain(String(model.portfolio!.figures.net_return_pct))
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV of the portfolio' }).click(),
      ])
      const lines = [model.portfolio!, ...model.members].map(({ id, kind, daily }) => ({
        ...{ name: id, kind },
        ...daily,
      }))
      expect(await readFile(await download.path(), 'utf8')).toBe(
        chartCsv({ lines, days: model.charts!.equity.days }),
      )
      const before = await page.locator('[data-section=figures]').innerHTML()
      await page.reload()
      await expect.poll(() => page.locator('[data-section=figures]').innerHTML()).toBe(before)
      expect(await page.getByLabel('Weight of Birch').inputValue()).toBe('3')
      await page.getByRole('button', { name: 'Remove Birch' }).click()
      await expect.poll(() => new URL(page.url()).search).toBe('?risk_pct=0.01&weights=1&with=hazel')
      expect(complaints).toEqual([])
      await context.close()
    })

    test('sorts and filters the table of all strategies', async () => {
      const { page, context } = await open(EXPLORER)
      const names = () => page.locator('#strategies tbody tr:visible a').allTextContents()
      await page.locator('#strategies thead').getByRole('button', { name: 'Max drawdown' }).click()
      expect((await names()).at(-1)).toBe('Stump')
      await page.getByRole('searchbox').fill('HAZEL')
      expect(await names()).toEqual(['<b>Hazel</b> & "co"'])
      expect(await page.locator('#strategies-matches').textContent()).toBe('1 of 4')
      await context.close()
    })

    test('lists every strategy without a script, and says that choosing needs one', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(served.url + EXPLORER)
      expect(await page.locator('#strategies tbody tr').count()).toBe(4)
      expect(await page.getByText('allow scripts of this site').isVisible()).toBe(true)
      expect(await page.getByRole('checkbox').count()).toBe(0)
      await context.close()
    })
  })

  describe('the check', () => {
    const findings = async (page: Page) => {
      await page.getByRole('button', { name: 'Check' }).click()
      await page.locator('#check button:enabled').waitFor()
      return page.locator('#findings li').allTextContents()
    }

    test('passes manifest, log, signatures and files, and prints the fingerprint of the key', async () => {
      const { page, context, complaints } = await open(`${PAGES_ROOT}check.html?of=birch`)
      const lines = await findings(page)
      expect(lines.map(line => line.split('. ')[0])).toEqual(
        ['Manifest', 'Log', 'Signatures', 'Files'].map(step => `Passed: ${step}`),
      )
      expect(lines[2]).toContain(keyOf(served.signer).fingerprint)
      expect(complaints).toEqual([])
      await context.close()
    })

    test.each([
      ['manifest.json', 'Failed: Log', 'is not the one that'],
      ['manifest.json.sig', 'Failed: Signatures', 'No published key made manifest.json.sig'],
      ['strategies/birch/returns.daily.csv', 'Failed: Files', 'is not the file that was published'],
    ])('fails if %s was changed', async (file, step, sentence) => {
      const { page, context } = await open(`${PAGES_ROOT}check.html?of=birch`)
      await page.route(`**/${file}`, async route => {
        const response = await route.fetch()
        const body = await response.body()
        body[body.length - 2]! ^= 1
        await route.fulfill({ response, body })
      })
      const last = (await findings(page)).findLast(line => line.startsWith('Failed'))
      expect(last).toContain(step)
      expect(last).toContain(sentence)
      await context.close()
    })
  })

  test('the commands of the page on checking pass', async () => {
    const { page, context } = await open(`${PAGES_ROOT}check.html`)
    const commands = await page.locator('[aria-labelledby=hand] pre').innerText()
    await context.close()
    const script = commands.replace('https://data.example.org', served.url)
    const { code, stdout } = await startProcess('sh', ['-euc', script], { cwd: await temporaryFolder() })
      .ended
    expect(stdout).toContain(`${keyOf(served.signer).fingerprint}  -`)
    expect(stdout).toContain('Signature Verified Successfully')
    expect(stdout).toContain('strategies/birch/sheet.html: OK')
    expect(code).toBe(0)
  })

  test.each(
    [1280, 390].flatMap(width => (['light', 'dark'] as const).map(scheme => [width, scheme] as const)),
  )(
    'at %i pixels in %s every page is accessible, keeps its policy, and is not wider than the window',
    async (width, scheme) => {
      const found: unknown[] = []
      for (const path of [
        `${SHEET}?risk_pct=0.01`,
        `${EXPLORER}?with=birch,hazel,stump`,
        EXPLORER,
        ...['index.html', 'versions.html', 'check.html'].map(name => PAGES_ROOT + name),
      ]) {
        const { page, context, complaints } = await open(path, width, scheme)
        if (path.includes('?')) await isDrawn(page)
        await page.evaluate(await readFile(AXE, 'utf8'))
        const { violations } = await page.evaluate<{
          violations: { id: string; nodes: { html: string }[] }[]
        }>('axe.run()')
        found.push(...violations.map(({ id, nodes }) => [path, id, nodes[0]!.html]), ...complaints)
        expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width])
        const folder = process.env.SCREENSHOTS
        const name = path.slice(PAGES_ROOT.length).replaceAll(/\W/g, '_')
        if (folder)
          await page.screenshot({ path: `${folder}/${name}-${width}-${scheme}.png`, fullPage: true })
        await context.close()
      }
      expect(found).toEqual([])
    },
  )
})
