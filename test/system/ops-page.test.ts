// The operator's page in a real browser: what an operator does when a client calls, and what its policy forbids.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '#api/http/http-server.ts'
import { listenOperator } from '#api/operator/app.ts'
import { activateClient, findClient, suspendClient } from '#signals/clients/clients.ts'
import { readDelivery } from '#signals/delivery/outbox.ts'
import { halt, resume } from '#signals/live/control.ts'
import { PATIENCE_MS } from '../support/browser/chromium.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { startTestRedis, type TestRedis } from '../support/servers/redis.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { playScene } from '../support/signals/operator-scene.ts'
import { NOW_MS } from '../support/signals/signals.ts'

const FAILING = 'the webhook of north-ridge has failed for 5 minutes: inform its owner'

const DAYS = [0, 1, 2, 3, 4, 5, 6]

const PUBLICATION = {
  ...{
    version: '2026-11-20T00:15:00Z',
    from: '2020-01-01',
    to: '2026-11-19',
    strategies: 8,
    builtWith: '0.1.0',
  },
  versions: DAYS.map(days => {
    const startedMs = Date.parse('2026-11-20T00:15:00Z') - days * 86_400_000
    return {
      version: new Date(startedMs).toISOString().replace('.000', ''),
      publishedMs: startedMs + 80_000,
      isServed: days === 0,
      isRestated: days === 3,
      night: { isDone: true, startedMs, endedMs: startedMs + 90_000 + days * 1_000, error: null },
    }
  }),
  failing: null,
}

describe('the operator page in Chromium', () => {
  let server: TestRedis
  let redis: Redis
  let operator: RunningServer
  let browser: Browser

  beforeAll(async () => {
    server = await startTestRedis()
    redis = await server.connect()
    await playScene(redis)
    const parts = operatorParts(redis, {
      random: size => randomBytes(size),
      clock: { now: () => NOW_MS + 60_000, elapsed: () => 0 },
      pause: () => sleep(50),
      publication: async () => PUBLICATION,
      alerts: () => [
        {
          kind: 'failing',
          subject: 'north-ridge',
          message: FAILING,
          at: '2026-11-20T23:00:00Z',
          repeated: 0,
        },
      ],
    })
    operator = await listenOperator(parts, '127.0.0.1', 0)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await operator?.close()
    await server?.stop()
  })

  /** Updates, twenty a second here, are off unless a test is about them. */
  const logIn = async (width: number, hasUpdates = false) => {
    const context = await browser.newContext({ viewport: { width, height: 900 } })
    if (!hasUpdates) await context.route('**/ops/updates.js', route => route.fulfill({ body: '' }))
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const violations: string[] = []
    page.on('console', message => {
      if (/content security policy/i.test(message.text())) violations.push(message.text())
    })
    await page.goto(`${operator.url}/ops`)
    await page.getByLabel('Operator token').fill(TOKEN)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL(`${operator.url}/ops`)
    return { page, context, violations }
  }

  test('an operator logs in, sees a client in trouble, and replays what was given up', async () => {
    const { page, context, violations } = await logIn(1280)
    await page.getByRole('link', { name: 'north-ridge' }).first().click()
    expect(await page.locator('main').innerText()).toContain('paused after failures')
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByRole('combobox', { name: 'State' }).selectOption('given up')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/status=exhausted/)
    expect((await readDelivery(redis, 3, 'north-ridge'))?.status).toBe('exhausted')
    await page.locator('tr', { hasText: 'north-ridge' }).getByRole('button', { name: 'Resend' }).click()
    expect(await page.locator('main').innerText()).toContain('Send north-ridge signal 3 again?')
    const folder = process.env.SCREENSHOTS
    if (folder) await page.screenshot({ path: `${folder}/confirm.png` })
    expect((await readDelivery(redis, 3, 'north-ridge'))?.status).toBe('exhausted')
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('status').waitFor()
    expect(await page.getByRole('status').innerText()).toContain('sent again')
    expect((await readDelivery(redis, 3, 'north-ridge'))?.status).toBe('owed')
    expect(violations).toEqual([])
    await context.close()
  })

  test('a page follows what happens without being loaded again, and leaves alone what is being typed', async () => {
    const { page, context, violations } = await logIn(1280, true)
    await page.goto(`${operator.url}/ops/view/live`)
    await page.evaluate('window.isSame = true')
    await halt(redis, 'birch')
    await page.getByText('except birch: halted').waitFor()
    expect(await page.evaluate('window.isSame')).toBe(true)
    await resume(redis, 'birch')
    await page.getByText('Every strategy sends its signals.').waitFor()
    await page.goto(`${operator.url}/ops/view/clients/acme-capital`)
    await page.getByLabel('Strategies').fill('alder, birch, hazel')
    const other = await context.newPage()
    await other.goto(page.url())
    await suspendClient(redis, 'acme-capital')
    await other.getByText('suspended').first().waitFor()
    expect(await page.getByLabel('Strategies').inputValue()).toBe('alder, birch, hazel')
    expect(await page.getByText('suspended').count()).toBe(0)
    await page.getByLabel('Strategies').fill('alder, birch')
    await page.getByLabel('Strategies').blur()
    await page.getByText('suspended').first().waitFor()
    await page.getByLabel('Strategies').fill('alder, birch, hazel')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Its entitlements are changed').waitFor()
    expect((await findClient(redis, 'acme-capital')).aliases).toEqual(['alder', 'birch', 'hazel'])
    expect(violations).toEqual([])
    await activateClient(redis, 'acme-capital')
    await context.close()
  })

  test('a form whose hidden field is gone is refused, and nothing changes', async () => {
    const { page, context } = await logIn(1280)
    await page.goto(`${operator.url}/ops/view/live`)
    await page
      .locator('form[action="/ops/view/live/halt"] input[name=csrf]')
      .first()
      .evaluate(field => field.remove())
    await page.getByRole('button', { name: 'Halt all' }).click()
    await page.getByText('this form is not of your session').waitFor()
    expect(await redis.sismember('{hw}:halted', '*')).toBe(0)
    await context.close()
  })

  test.each([1280, 400])('at %i pixels no page is wider than the window', async width => {
    const { page, context } = await logIn(width)
    const paths = [
      '/ops',
      ...['clients', 'clients/north-ridge', 'signals', 'signals/3', 'deliveries', 'live', 'audit'].map(
        name => `/ops/view/${name}`,
      ),
    ]
    for (const path of paths) {
      await page.goto(operator.url + path)
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width])
      const folder = process.env.SCREENSHOTS
      if (folder)
        await page.screenshot({ path: `${folder}/${path.replaceAll('/', '_')}-${width}.png`, fullPage: true })
    }
    await context.close()
  })
})
