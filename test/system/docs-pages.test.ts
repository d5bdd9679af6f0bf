// `/docs` and the guides in a real browser: under their policy, at every width, in either scheme, and accessible.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { GUIDES } from '#pages/guides/guides.ts'
import { PATIENCE_MS } from '../support/browser/chromium.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { openHistoryApp, SETTINGS } from '../support/history/history-app.ts'

const SIZES = [
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 768 },
  { colorScheme: 'light', width: 1440 },
] as const

/** It has a page with status 404. */
const MISSING = '/strategies/nobody'

const PATHS = ['/docs', ...GUIDES.map(({ name }) => `/docs/guides/${name}`), MISSING]

let server: RunningServer
let browser: Browser
let axe: string

beforeAll(async () => {
  const signalsBaseUrl = 'https://signals.example.org'
  const { app } = await openHistoryApp(inject('tinyStore'), { settings: { ...SETTINGS, signalsBaseUrl } })
  server = await startServer(() => app.fetch, '127.0.0.1', 0)
  browser = await openBrowser()
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

/** Opens a page. Complaints: what the policy forbade, or failed. */
async function open(path: string) {
  const context = await browser.newContext()
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => complaints.push(message.text()))
  page.on('response', response => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(server.url + path)
  return { page, complaints, close: () => context.close() }
}

type Finding = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }

async function findingsOn(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const violations: Finding[] = await page.evaluate('axe.run().then(result => result.violations)')
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

describe.each(PATHS)('%s', path => {
  test('is accessible and never wider than the window, with every snippet open', async () => {
    const { page, complaints, close } = await open(path)
    const count = await page.locator('details').count()
    for (let i = 0; i < count; i++)
      await page
        .locator('details')
        .nth(i)
        .evaluate(each => each.removeAttribute('name'))
    for (let i = 0; i < count; i++)
      await page
        .locator('details')
        .nth(i)
        .evaluate(each => each.setAttribute('open', ''))
    for (const { colorScheme, width } of SIZES) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await findingsOn(page)).toEqual([])
      if (process.env.SHOTS_DIR) {
        const name = `${path.split('/').at(-1)}-${colorScheme}-${width}.png`
        await page.screenshot({ path: `${process.env.SHOTS_DIR}/${name}`, fullPage: true })
      }
    }
    expect(complaints.filter(each => path !== MISSING || !each.includes('404'))).toEqual([])
    await close()
  })

  test('leads nowhere that does not answer', async () => {
    const { page, close } = await open(path)
    const links: string[] = await page.evaluate('[...document.links].map(link => link.href)')
    const own = new Set(links.filter(link => link.startsWith(server.url)).map(link => link.split('#')[0]!))
    expect(own.delete(server.url + MISSING)).toBe(path === MISSING) // the link to the content
    expect(own.size).toBeGreaterThan(4)
    for (const link of own) expect([link, (await fetch(link)).status]).toEqual([link, 200])
    await close()
  })
})

test('the index lists every endpoint, and an old link into the reference leads to its endpoint', async () => {
  const { page, close } = await open('/docs#/Strategy/stats')
  const paths = await page.locator('.endpoints dt').allInnerTexts()
  expect(paths.toSorted()).toEqual(ROUTES.map(route => route.path).toSorted())
  expect(await page.locator(':target dt').innerText()).toBe('/v1/strategies/{sid}/stats')
  await page.locator(':target dt a').click()
  const operation = page.locator('#operations-Strategy-stats')
  await operation.locator('.opblock-body').waitFor()
  await close()
})

test('one snippet of a group is open at a time, without a script', async () => {
  const { page, close } = await open('/docs/guides/first-chart')
  await page.locator('summary', { hasText: 'R' }).last().click()
  expect(await page.locator('details[open]').count()).toBe(1)
  expect(await page.locator('script').count()).toBe(0)
  await close()
})
