// The operator's page in a real browser: what an operator does when a client calls, and what its policy forbids.
import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '#api/http/http-server.ts'
import { listenOperator } from '#api/operator/app.ts'
import { readDelivery } from '#signals/delivery/outbox.ts'
import { launchChromium, PATIENCE_MS } from '../support/browser/chromium.ts'
import { startTestRedis, type TestRedis } from '../support/servers/redis.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { playScene } from '../support/signals/operator-scene.ts'
import { NOW_MS } from '../support/signals/signals.ts'

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
    })
    operator = await listenOperator(parts, '127.0.0.1', 0)
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await operator?.close()
    await server?.stop()
  })

  const logIn = async (width: number) => {
    const context = await browser.newContext({ viewport: { width, height: 900 } })
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
    expect(await page.locator('main').innerText()).toContain('breaker open')
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
      if (folder) await page.screenshot({ path: `${folder}/${path.replaceAll('/', '_')}-${width}.png` })
    }
    await context.close()
  })
})
