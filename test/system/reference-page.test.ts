// The API reference in a real browser that reaches nothing but the service: every route is on it, in either scheme, at either width.
import { Redis } from 'ioredis'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { type Fetch, type RunningServer, startServer } from '#api/http/http-server.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { PATIENCE_MS } from '../support/browser/chromium.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { openHistoryApp } from '../support/history/history-app.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

/** Folds within folds of a schema. */
const LEVELS = 8

const HISTORY_PATHS = [
  ...ROUTES.map(({ path }) => path),
  ...DATASET_ROUTES.map(pinnedTemplate),
  ...FILE_ROUTES.map(({ path }) => path),
]

const SIZES = [
  { colorScheme: 'light', width: 1400 },
  { colorScheme: 'dark', width: 390 },
  { colorScheme: 'dark', width: 1400 },
  { colorScheme: 'light', width: 390 },
] as const

describe('the reference in Chromium', () => {
  let history: RunningServer
  let signals: RunningServer
  let browser: Browser
  const redis = new Redis({ lazyConnect: true }) // the page asks for nothing that is in it

  beforeAll(async () => {
    const { app } = await openHistoryApp(inject('tinyStore'))
    const { parts } = signalsParts(redis)
    history = await serve(request => app.fetch(request))
    signals = await serve(createSignalsApp(parts).fetch)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await Promise.all([history?.close(), signals?.close()])
    redis.disconnect()
  })

  test('draws every route of the history service, in either scheme, and never wider than the window', async () => {
    const { page, context, complaints } = await open(browser, history.url, '/docs/reference')
    expect((await pathsOn(page)).sort()).toEqual(HISTORY_PATHS.toSorted())
    await page.locator('#operations-Strategy-stats .opblock-summary-control').click()
    const answers = page.locator('#operations-Strategy-stats .responses-table')
    expect(await answers.innerText()).toContain('"sharpe_daily_annualized": ')
    const papers = new Set<string>()
    for (const { colorScheme, width } of SIZES) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 1000 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      papers.add(
        await page.evaluate('getComputedStyle(document.querySelector(".swagger-ui")).backgroundColor'),
      )
      await photograph(page, `history-${colorScheme}-${width}`)
    }
    expect(papers.size).toBe(2)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('draws the formula of a figure, and why it may be null, beside its definition', async () => {
    const { page, context, complaints } = await open(browser, history.url, '/docs/reference')
    const operation = page.locator('#operations-Strategy-stats')
    await operation.locator('.opblock-summary-control').click()
    const answer = operation.locator('tr.response').first()
    await answer.getByRole('tab', { name: 'Schema' }).click()
    const shown = () => answer.innerText()
    for (let level = 0; level < LEVELS && !(await shown()).includes('less_than_one_year'); level++) {
      const folded = answer.locator('button:has(.json-schema-2020-12-accordion__icon--collapsed)')
      for (let left = await folded.count(); left > 0; left--) await folded.first().click()
    }
    expect(await shown()).toMatch(
      /Compound annual growth rate.*x-formula\s*"100 × .*x-null-when.*less_than_one_year/s,
    )
    expect(complaints).toEqual([])
    await context.close()
  })

  test('sends requests that are tried on it to the service that the page came from, about a strategy that it has', async () => {
    const { page, context, complaints } = await open(browser, history.url, '/docs/reference')
    const operation = page.locator('#operations-Book-dataset')
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('.try-out__btn').click()
    await operation.locator('.execute').click()
    expect(
      await operation.locator('.live-responses-table .response-col_status').last().innerText(),
    ).toContain('200')
    const pinned = page.locator('#operations-Pinned-pinned_stats')
    await pinned.locator('.opblock-summary-control').click()
    await pinned.locator('.try-out__btn').click()
    const inputs = await pinned.locator('tr[data-param-in="path"] input').all()
    const variables = await Promise.all(inputs.map(input => input.inputValue()))
    expect(variables.toSorted()).toEqual([toCompactInstant(TINY_VERSION), 'ash'])
    expect(complaints).toEqual([])
    await context.close()
  })

  test('draws every route of the signals service, and asks for no key', async () => {
    const { page, context, complaints } = await open(browser, signals.url, '/docs')
    expect(new Set(await pathsOn(page))).toEqual(new Set(SIGNALS_ROUTES.map(({ path }) => path)))
    await page.locator('#operations-Signals-history .opblock-summary-control').click()
    const answers = await page.locator('#operations-Signals-history .responses-table').innerText()
    expect(answers).toContain('Schema')
    expect(answers).toContain('"signal_id": "birch-20261121-2"')
    expect(answers, 'an example without an answer').not.toMatch(/"string"|no example/)
    expect(await page.locator('.authorize, .authorization__btn, .try-out__btn').count()).toBe(0)
    await photograph(page, 'signals-light-1400')
    expect(complaints).toEqual([])
    await context.close()
  })
})

const serve = (fetch: Fetch): Promise<RunningServer> => startServer(() => fetch, '127.0.0.1', 0)

/** Opens the page with the network cut off. Complaints: what the policy forbade, failed, or wanted to leave the origin. */
async function open(browser: Browser, origin: string, path: string) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } })
  const complaints: string[] = []
  await cutOff(context, origin, complaints)
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(error.message))
  await page.goto(origin + path)
  await page.locator('.opblock').first().waitFor()
  return { page, context, complaints }
}

const cutOff = (context: BrowserContext, origin: string, complaints: string[]) =>
  context.route('**/*', route => {
    const url = route.request().url()
    if (url.startsWith(`${origin}/`) || url.startsWith('data:')) return route.continue()
    complaints.push(`asks for ${url}`)
    return route.abort()
  })

const pathsOn = (page: Page): Promise<string[]> =>
  page
    .locator('.opblock-summary-path')
    .evaluateAll(nodes => nodes.map(node => node.getAttribute('data-path') ?? ''))

/** Screenshots for a person to look at, outside the repository. */
async function photograph(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: `${folder}/docs-${name}.png` })
}
