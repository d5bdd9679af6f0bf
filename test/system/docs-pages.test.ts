// `/docs`, the guides, the API reference and `/program` in a real browser that reaches nothing but the service: under their policy,
// at every width, in either scheme, and accessible.

import { Redis } from 'ioredis'
import type { Page } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { GUIDES } from '#pages/guides/guides.ts'
import type { ServedProgram } from '#storage/published-files.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { expectReadable, openPage, photograph, type Size } from '../support/browser/shared-browser.ts'
import { openHistoryApp, SETTINGS } from '../support/history/history-app.ts'
import { start } from '../support/http/raw-server.ts'
import { servedProgram } from '../support/signals/served-program.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

const SIZES: readonly Size[] = [
  [390, 'light'],
  [768, 'dark'],
  [1440, 'light'],
]

/** It has a page with status 404. */
const MISSING = '/strategies/nobody'

const PATHS = ['/docs', ...GUIDES.map(({ name }) => `/docs/guides/${name}`), MISSING]

let app: Awaited<ReturnType<typeof openHistoryApp>>['app']
let url: string
let served: ServedProgram
let signals: string

beforeAll(async () => {
  const signalsBaseUrl = 'https://signals.example.org'
  const opened = await openHistoryApp(inject('tinyStore'), { settings: { ...SETTINGS, signalsBaseUrl } })
  app = opened.app
  url = (await start(app.fetch)).url
  const redis = new Redis({ lazyConnect: true, enableOfflineQueue: false }) // none is there: the process counts requests
  redis.disconnect()
  const { parts } = signalsParts(redis, { program: () => served })
  signals = (await start(createSignalsApp(parts).fetch)).url
})

test.each(PATHS)(
  'the page %s is accessible and never wider than the window, with every snippet open',
  async path => {
    const { page, complaints } = await openPage(url + path)
    await page.evaluate(`const all = [...document.querySelectorAll('details')]
      for (const each of all) each.removeAttribute('name')
      for (const each of all) each.setAttribute('open', '')`)
    await expectReadable(page, `docs${path}`, SIZES)
    expect(complaints.filter(each => path !== MISSING || !each.includes('404'))).toEqual([])
  },
)

test('every link of the index, of the guides and of the page that is missing leads to an answer', async () => {
  const answers = new Map<string, Promise<number>>()
  const followed = async (address: string): Promise<number> => {
    const { status, headers } = await app.request(address)
    const moved = headers.get('location')
    return moved === null ? status : followed(moved)
  }
  const statusOf = (address: string): Promise<number> => {
    const status = answers.get(address) ?? followed(address)
    answers.set(address, status)
    return status
  }
  for (const path of PATHS) {
    const markup = await (await app.request(path, { headers: { accept: 'text/html' } })).text()
    const links = [...markup.matchAll(/ href="([^"#]+)/g)].map(
      ([, href = '']) => new URL(href.replaceAll('&amp;', '&'), url + path),
    )
    const own = new Set(links.filter(link => link.origin === url).map(link => link.pathname + link.search))
    expect([path, own.size > 4]).toEqual([path, true])
    for (const link of own) expect([path, link, await statusOf(link)]).toEqual([path, link, 200])
  }
})

test('the index of the documentation lists every endpoint', async () => {
  const markup = await (await app.request('/docs')).text()
  const paths = [...markup.matchAll(/<dt><a [^>]*>(?:<code>)?([^<]+)</g)].map(([, path = '']) => path)
  expect(paths.toSorted()).toEqual(ROUTES.map(route => route.path).toSorted())
})

test('one snippet of a group of a guide is open at a time, without a script', async () => {
  const { page } = await openPage(`${url}/docs/guides/first-chart`)
  await page.locator('summary', { hasText: 'R' }).last().click()
  expect(await page.locator('details[open]').count()).toBe(1)
  expect(await page.locator('script').count()).toBe(0)
})

/** Folds within folds of a schema. */
const LEVELS = 8

const HISTORY_PATHS = [
  ...ROUTES.map(({ path }) => path),
  ...DATASET_ROUTES.map(pinnedTemplate),
  ...FILE_ROUTES.map(({ path }) => path),
]

const pathsOn = (page: Page): Promise<string[]> =>
  page
    .locator('.opblock-summary-path')
    .evaluateAll(nodes => nodes.map(node => node.getAttribute('data-path') ?? ''))

test('an old link into the reference leads to its operation; every route of the history service is drawn in either scheme and never wider than the window, with formulas and reasons for null, and sends what is tried', async () => {
  const { page, complaints } = await openPage(`${url}/docs#/Strategy/stats`, { width: 1400 })
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
  const { page, complaints } = await openPage(`${signals}/docs`, { width: 1400 })
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

const ACCUMULATING = servedProgram()
const NAMED = {
  ...servedProgram({
    alias: 'a-program-with-a-name-as-long-as-it-may-be',
    instrument: '<b>B&W</b>'.repeat(5),
  }),
  dataset: { ...ACCUMULATING.dataset, synthetic: true, public_url: 'https://history.example.org' },
}

test.each<[string, ServedProgram]>([
  ['accumulates', ACCUMULATING],
  ['has the longest names and synthetic data', NAMED],
  ['has not started and has no figure', servedProgram({}, ACCUMULATING.version, 100)],
])(
  'the page of a program that %s is accessible and fits the window, at either width in either scheme',
  async (what, program) => {
    served = program
    const { page, complaints } = await openPage(`${signals}/program`)
    await expectReadable(page, `program ${what}`)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('svg.shares')).display`)).toBe(
      'block',
    )
    expect(complaints).toEqual([])
  },
)

test('the page of the program answers its form without a script, with the digits of the open simulation', async () => {
  served = ACCUMULATING
  const { page, complaints } = await openPage(`${signals}/program`, { width: 390 })
  await page.getByLabel('Equity, US$').fill('25000')
  await page.getByLabel('Bars between').fill('14')
  await page.getByRole('button', { name: 'Simulate' }).click()
  await page.locator('[aria-labelledby=simulation]').waitFor()
  expect(page.url()).toBe(`${signals}/program?equity_usd=25000&contribution_cadence_bars=14#simulation`)
  const answer = await fetch(`${signals}/v1/program/preview/simulate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"equity_usd":25000,"contribution_cadence_bars":14}',
  })
  const { data } = (await answer.json()) as { data: { total_btc_accumulated: number } }
  expect(await page.locator(`data[value="${data.total_btc_accumulated}"]`).count()).toBe(1)
  expect(await page.getByLabel('Equity, US$').inputValue()).toBe('25000')
  await photograph(page, 'program-simulated-390')
  expect(complaints).toEqual([])
})
