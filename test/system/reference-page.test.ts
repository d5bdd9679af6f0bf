// The API reference in a real browser that reaches nothing but the service: every route is on it, in either scheme, at either width.
import { Redis } from 'ioredis'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { type Fetch, startServer } from '#api/http/http-server.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { openPage, photograph } from '../support/browser/shared-browser.ts'
import { atEnd } from '../support/ends.ts'
import { openHistoryApp } from '../support/history/history-app.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

/** Folds within folds of a schema. */
const LEVELS = 8

const HISTORY_PATHS = [
  ...ROUTES.map(({ path }) => path),
  ...DATASET_ROUTES.map(pinnedTemplate),
  ...FILE_ROUTES.map(({ path }) => path),
]

/** Opens a page of a service. */
async function open(fetch: Fetch, path: string) {
  const server = await startServer(() => fetch, '127.0.0.1', 0)
  atEnd(() => server.close())
  return openPage(server.url + path, { width: 1400 })
}

const pathsOn = (page: Page): Promise<string[]> =>
  page
    .locator('.opblock-summary-path')
    .evaluateAll(nodes => nodes.map(node => node.getAttribute('data-path') ?? ''))

test('an old link into the reference leads to its operation; every route of the history service is drawn in either scheme and never wider than the window, with formulas and reasons for null, and sends what is tried', async () => {
  const { app } = await openHistoryApp(inject('tinyStore'))
  const { page, complaints } = await open(request => app.fetch(request), '/docs#/Strategy/stats')
  expect(await page.locator(':target dt').innerText()).toBe('/v1/strategies/{sid}/stats')
  await page.locator(':target dt a').click()
  await page.locator('#operations-Strategy-stats .opblock-body').waitFor()
  expect((await pathsOn(page)).sort()).toEqual(HISTORY_PATHS.toSorted())
  await expectFigures(page)
  const papers = new Set<string>()
  for (const width of [1400, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 1000 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      const ofPaper = 'getComputedStyle(document.querySelector(".swagger-ui")).backgroundColor'
      papers.add(await page.evaluate(ofPaper))
      await photograph(page, `docs-history-${colorScheme}-${width}`)
    }
  expect(papers.size).toBe(2)
  await expectTried(page)
  expect(complaints).toEqual([])
})

/** The statistics of a strategy have an example, and each figure its formula and why it may be null beside its definition. */
async function expectFigures(page: Page): Promise<void> {
  const operation = page.locator('#operations-Strategy-stats')
  expect(await operation.locator('.responses-table').innerText()).toContain('"sharpe_daily_annualized": ')
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
}

/** A request that is tried goes to the service that the page came from, and is about a strategy that it has. */
async function expectTried(page: Page): Promise<void> {
  const operation = page.locator('#operations-Book-dataset')
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('.try-out__btn').click()
  await operation.locator('.execute').click()
  const status = operation.locator('.live-responses-table .response-col_status').last()
  expect(await status.innerText()).toContain('200')
  const pinned = page.locator('#operations-Pinned-pinned_stats')
  await pinned.locator('.opblock-summary-control').click()
  await pinned.locator('.try-out__btn').click()
  const inputs = await pinned.locator('tr[data-param-in="path"] input').all()
  const variables = await Promise.all(inputs.map(input => input.inputValue()))
  expect(variables.toSorted()).toEqual([toCompactInstant(TINY_VERSION), 'ash'])
}

test('the reference draws every route of the signals service, and asks for no key', async () => {
  const redis = new Redis({ lazyConnect: true }) // the page asks for nothing that is in it
  atEnd(() => redis.disconnect())
  const { parts } = signalsParts(redis)
  const { page, complaints } = await open(createSignalsApp(parts).fetch, '/docs')
  await page.locator('.opblock').first().waitFor()
  expect(new Set(await pathsOn(page))).toEqual(new Set(SIGNALS_ROUTES.map(({ path }) => path)))
  await page.locator('#operations-Signals-history .opblock-summary-control').click()
  const answers = await page.locator('#operations-Signals-history .responses-table').innerText()
  expect(answers).toContain('Schema')
  expect(answers).toContain('"signal_id": "birch-20261121-2"')
  expect(answers, 'an example without an answer').not.toMatch(/"string"|no example/)
  expect(await page.locator('.authorize, .authorization__btn, .try-out__btn').count()).toBe(0)
  await photograph(page, 'docs-signals-light-1400')
  expect(complaints).toEqual([])
})
