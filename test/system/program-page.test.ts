// `/program` in a real browser that reaches nothing but the service: in either scheme, at either width, and its form without a script.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import type { ServedProgram } from '#storage/published-program.ts'
import { PATIENCE_MS } from '../support/browser/chromium.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { servedProgram } from '../support/signals/served-program.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

const ACCUMULATING = servedProgram()
const NAMED = {
  ...servedProgram({
    alias: 'a-program-with-a-name-as-long-as-it-may-be',
    instrument: '<b>B&W</b>'.repeat(5),
  }),
  dataset: { ...ACCUMULATING.dataset, synthetic: true, public_url: 'https://history.example.org' },
}

/** From a full page to one without any figure. */
const PROGRAMS: Readonly<Record<string, ServedProgram>> = {
  accumulating: ACCUMULATING,
  named: NAMED,
  'not-started': servedProgram({}, ACCUMULATING.version, 100),
}

describe('/program in Chromium', () => {
  let served: ServedProgram
  let server: RunningServer
  let browser: Browser
  const redis = new Redis({ lazyConnect: true, enableOfflineQueue: false }) // none is there: the process counts requests
  redis.disconnect()

  beforeAll(async () => {
    const { parts } = signalsParts(redis, { program: () => served })
    server = await startServer(() => createSignalsApp(parts).fetch, '127.0.0.1', 0)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  const open = async (path: string, width: number, colorScheme: 'light' | 'dark') => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
    context.setDefaultTimeout(PATIENCE_MS)
    const complaints: string[] = []
    await context.route('**/*', route => {
      if (route.request().url().startsWith(`${server.url}/`)) return route.continue()
      complaints.push(`asks for ${route.request().url()}`)
      return route.abort()
    })
    const page = await context.newPage()
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    await page.goto(server.url + path)
    return { page, context, complaints }
  }

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('is accessible and fits a window of %d in %s', async (width, scheme) => {
    const found: unknown[] = []
    for (const [name, program] of Object.entries(PROGRAMS)) {
      served = program
      const { page, context, complaints } = await open('/program', width, scheme)
      await page.evaluate(await readFile(AXE, 'utf8'))
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { html: string }[] }[]
      }>('axe.run()')
      found.push(...violations.map(({ id, nodes }) => [name, id, nodes[0]!.html]), ...complaints)
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width])
      expect(await page.evaluate(`getComputedStyle(document.querySelector('svg.shares')).display`)).toBe(
        'block',
      )
      const folder = process.env.SCREENSHOTS
      if (folder)
        await page.screenshot({ path: `${folder}/program-${name}-${width}-${scheme}.png`, fullPage: true })
      await context.close()
    }
    expect(found).toEqual([])
  })

  test('answers its form without a script, with the digits of the open simulation', async () => {
    served = ACCUMULATING
    const { page, context, complaints } = await open('/program', 390, 'light')
    await page.getByLabel('Equity, US$').fill('25000')
    await page.getByLabel('Bars between').fill('14')
    await page.getByRole('button', { name: 'Simulate' }).click()
    await page.locator('[aria-labelledby=simulation]').waitFor()
    expect(page.url()).toBe(`${server.url}/program?equity_usd=25000&contribution_cadence_bars=14#simulation`)
    const answer = await fetch(`${server.url}/v1/program/preview/simulate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"equity_usd":25000,"contribution_cadence_bars":14}',
    })
    const { data } = (await answer.json()) as { data: { total_btc_accumulated: number } }
    expect(await page.locator(`data[value="${data.total_btc_accumulated}"]`).count()).toBe(1)
    expect(await page.getByLabel('Equity, US$').inputValue()).toBe('25000')
    const folder = process.env.SCREENSHOTS
    if (folder) await page.screenshot({ path: `${folder}/program-simulated-390.png`, fullPage: true })
    expect(complaints).toEqual([])
    await context.close()
  })
})
