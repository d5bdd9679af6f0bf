// `/docs`, the guides, the API reference and `/program` in a real browser that reaches nothing but the service: under their policy,
// at every width, in either scheme, and accessible.

import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { beforeAll, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import { DOCUMENTS, GUIDES } from '#pages/guides/documents.ts'

import type { ServedProgram } from '#storage/published-files.ts'
import { expectReadable, openPage, type Size } from '../support/browser/shared-browser.ts'
import { openHistoryApp, SETTINGS } from '../support/history/history-app.ts'
import { start } from '../support/http/raw-server.ts'
import { servedProgram } from '../support/signals/served-program.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

const SIZES: readonly Size[] = [
  [390, 'light'],
  [1440, 'dark'],
]

/** It has a page with status 404. */
const MISSING = '/strategies/nobody'

/** One page of each kind; what differs on the others is their text. */
const OF_EACH_KIND = ['/docs', MISSING, ...[GUIDES, DOCUMENTS].map(([page]) => `/docs/guides/${page!.name}`)]

const PATHS = [
  ...['/docs', '/docs/reference', MISSING],
  ...[...GUIDES, ...DOCUMENTS].map(({ name }) => `/docs/guides/${name}`),
]

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

test.each([...PATHS, 'signals/docs'])(
  'the page %s is accessible and never wider than the window, with everything open',
  async path => {
    const address = path === 'signals/docs' ? `${signals}/docs` : url + path
    const { page, complaints } = await openPage(address, { width: 390 })
    await page.evaluate(`const all = [...document.querySelectorAll('details')]
      for (const each of all) each.removeAttribute('name')
      for (const each of all) each.setAttribute('open', '')`)
    for (const width of [768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
    // A reference has thousands of elements: two operations of each group of the smaller one are made by the same code.
    await page.evaluate(
      `for (const each of document.querySelectorAll('section > article:nth-of-type(n+3)')) each.remove()`,
    )
    if (path !== '/docs/reference')
      await expectReadable(page, `docs${path}`, OF_EACH_KIND.includes(path) ? SIZES : SIZES.slice(0, 1))
    expect(complaints.filter(each => path !== MISSING || !each.includes('404'))).toEqual([])
  },
)

test('every link of the index, of the guides, of the reference and of the page that is missing leads to an answer, and to a place in it if it names one', async () => {
  const answers = new Map<string, Promise<{ status: number; text: string }>>()
  const follow = async (address: string): Promise<{ status: number; text: string }> => {
    const response = await app.request(address, { headers: { accept: 'text/html' } })
    const moved = response.headers.get('location')
    return moved === null ? { status: response.status, text: await response.text() } : follow(moved)
  }
  const answerOf = (address: string) => {
    const answer = answers.get(address) ?? follow(address)
    answers.set(address, answer)
    return answer
  }
  for (const path of PATHS) {
    const { text: markup } = await answerOf(path)
    const links = [...markup.matchAll(/ href="([^"]+)/g)].map(
      ([, href = '']) => new URL(href.replaceAll('&amp;', '&'), url + path),
    )
    const own = links.filter(link => link.origin === url)
    expect([path, own.length > 4]).toEqual([path, true])
    for (const { pathname, search, hash } of own) {
      const { status, text } = await answerOf(pathname + search)
      expect([path, pathname, hash, status]).toEqual([path, pathname, hash, pathname === MISSING ? 404 : 200])
      expect([path, pathname, hash, text.includes(` id="${hash.slice(1)}"`)]).toEqual([
        ...[path, pathname, hash],
        hash !== '',
      ])
    }
  }
})

test('every command of the reference that needs no value of the reader has an answer', async () => {
  const markup = await (await app.request('/docs/reference')).text()
  const commands = [...markup.matchAll(/<code>curl -sS &quot;([^$]+?)&quot;<\/code>/g)].map(
    ([, address = '']) => new URL(address).pathname,
  )
  expect(commands.length).toBeGreaterThan(ROUTES.length)
  const there = commands.filter(path => !/\.sig$|keys\.json$|seals\/head$/.test(path)) // the store is not signed or sealed
  for (const path of there) expect([path, (await app.request(path)).status]).toEqual([path, 200])
})

test('a page of docs/ has each word of its file', async () => {
  for (const { name } of DOCUMENTS) {
    const shown = (await (await app.request(`/docs/guides/${name}`)).text()).replaceAll(/<[^>]*>/g, '')
    const words = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
      .replaceAll(/<!--.*?-->|^```.*$/gms, '')
      .replaceAll(/\]\([^)]*\)/g, ' ')
      .match(/[\p{L}\d_]+/gu)!
    expect(words.filter(word => !shown.includes(word))).toEqual([])
  }
})

test('the index of the documentation lists every endpoint', async () => {
  const markup = await (await app.request('/docs')).text()
  const paths = [...markup.matchAll(/<dt><a [^>]*>(?:<code>)?([^<]+)</g)].map(([, path = '']) => path)
  expect(paths.toSorted()).toEqual(ROUTES.map(route => route.path).toSorted())
})

test('one snippet of a group of a guide is open at a time, without a script and then without a button', async () => {
  const { page } = await openPage(`${url}/docs/guides/first-chart`, { javaScriptEnabled: false })
  await page.locator('summary', { hasText: 'R' }).last().click()
  expect(await page.locator('details[open]').count()).toBe(1)
  expect(await page.locator('button').count()).toBe(0)
})

test('each box of code has a button that copies it, and what a snippet prints has none', async () => {
  const { page, context, complaints } = await openPage(`${url}/docs/guides/first-chart`)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(1) // that of the open snippet
  expect(await page.locator('.prints button, .code .prints').count()).toBe(0)
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  expect(copied).toBe(await page.locator('details[open] pre').textContent())
  expect(complaints).toEqual([])
})

test('an old link into the reference leads to its operation, and a link to a named schema opens it, in either scheme', async () => {
  const { page, complaints } = await openPage(`${url}/docs#/Strategy/stats`, { width: 1400 })
  expect(await page.locator(':target dt').innerText()).toBe('/v1/strategies/{sid}/stats')
  await page.locator(':target dt a').click()
  expect(await page.locator('article:target h3').innerText()).toBe('GET /v1/strategies/{sid}/stats')
  const figure = page.locator('#schema-Stats > ul > li', { hasText: /^cagr_pct/ })
  expect(await figure.isVisible()).toBe(false)
  await page.locator('article:target').getByRole('link', { name: 'Stats', exact: true }).click()
  await figure.waitFor()
  expect(await figure.innerText()).toMatch(/number or null.* Formula: 100 × .*less_than_one_year/)
  const papers = new Set<unknown>()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    papers.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
  }
  expect(papers.size).toBe(2)
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

test.each<[string, ServedProgram, number]>([
  ['accumulates', ACCUMULATING, 1],
  ['has the longest names and synthetic data', NAMED, 2],
  ['has not started and has no figure', servedProgram({}, ACCUMULATING.version, 100), 1],
])(
  'the page of a program that %s is accessible and fits the window, on a phone and if its names are long on a screen',
  async (what, program, sizes) => {
    served = program
    const { page, complaints } = await openPage(`${signals}/program`)
    await expectReadable(page, `program ${what}`, SIZES.slice(0, sizes))
    expect(await page.evaluate(`getComputedStyle(document.querySelector('svg.shares')).display`)).toBe(
      'block',
    )
    expect(complaints).toEqual([])
  },
)
