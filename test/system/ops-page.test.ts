// The operator's page in a real browser: what an operator does when a client calls, and what its policy forbids.
import { randomBytes } from 'node:crypto'
import type { Route } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { listenOperator } from '#api/operator/app.ts'
import { findClient, suspendClient } from '#signals/clients/clients.ts'
import { halt, resume } from '#signals/live/live-record.ts'
import { expectFitting, openBlank, photograph, violationsIn } from '../support/browser/shared-browser.ts'
import { atEnd } from '../support/ends.ts'
import { readDelivery } from '../support/signals/delivery.ts'
import { operatorParts, TOKEN } from '../support/signals/operator.ts'
import { playScene } from '../support/signals/operator-scene.ts'
import { NOW_MS, ORDERED } from '../support/signals/signals.ts'
import { redis, useRedis } from '../support/signals/test-redis.ts'

const FAILING = 'the webhook of north-ridge has failed for 5 minutes: inform its owner'

const DAYS = [0, 1, 2, 3, 4, 5, 6]

const PUBLISHED = {
  ...{
    version: '2026-11-20T00:15:00Z',
    from: '2020-01-01',
    to: '2026-11-19',
    strategies: 8,
    builtWith: '0.1.0',
  },
  versions: DAYS.map(days => {
    const at = (ms: number) =>
      new Date(Date.parse('2026-11-20T00:15:00Z') - days * 86_400_000 + ms).toISOString().replace('.000', '')
    const [started_utc, ended_utc] = [at(0), at(90_000 + days * 1_000)]
    return {
      ...{ version: started_utc, published: at(80_000), entered: null, manifest_sha256: '' },
      ...{ is_served: days === 0, history_restated: days === 3 },
      night: { outcome: 'done' as const, started_utc, ended_utc, error: null },
    }
  }),
  failing: null,
}

let url: string
useRedis()
beforeEach(async () => {
  await playScene(redis)
  const parts = operatorParts(redis, {
    random: size => randomBytes(size),
    clock: { now: () => NOW_MS + 60_000, elapsed: () => 0 },
    published: async () => PUBLISHED,
    alerts: () => [
      {
        ...{ kind: 'failing', subject: 'north-ridge', message: FAILING },
        ...{ at: '2026-11-20T23:00:00Z', repeated: 0 },
      },
    ],
  })
  const operator = await listenOperator(parts, '127.0.0.1', 0)
  atEnd(() => operator.close())
  url = operator.url
})

/** Updates are off unless a test is about them. */
async function logIn(width: number, hasUpdates = false) {
  const opened = await openBlank({ width })
  const { page, context } = opened
  if (!hasUpdates) await context.route('**/ops/updates.js', route => route.fulfill({ body: '' }))
  await page.goto(`${url}/ops`)
  await page.getByLabel('Operator token').fill(TOKEN)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${url}/ops`)
  return opened
}

test('an operator logs in, sees a client in trouble, and sends again what was given up, once it is confirmed', async () => {
  const { page, complaints } = await logIn(1280)
  await page.getByRole('link', { name: 'north-ridge' }).first().click()
  expect(await page.locator('main').innerText()).toContain('paused after failures')
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('combobox', { name: 'State' }).selectOption('given up')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/status=exhausted/)
  expect((await readDelivery(redis, 3, 'north-ridge'))?.status).toBe('exhausted')
  await page.locator('tr', { hasText: 'north-ridge' }).getByRole('button', { name: 'Resend' }).click()
  expect(await page.locator('main').innerText()).toContain('Send 1 signal again?')
  await photograph(page, 'confirm')
  expect((await readDelivery(redis, 3, 'north-ridge'))?.status).toBe('exhausted')
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('status').waitFor()
  expect(await page.getByRole('status').innerText()).toContain('sent again')
  expect((await readDelivery(redis, 3, 'north-ridge'))?.status).toBe('owed')
  expect(violationsIn(complaints)).toEqual([])
})

test('an operator page follows what happens without being loaded again, says since when it is old, is loaded again if it is refused, and leaves alone what is being typed', async () => {
  const { page, context, complaints } = await logIn(1280, true)
  await page.goto(`${url}/ops/view/live`)
  await page.evaluate('window.isSame = true')
  await halt(redis, 'birch', ORDERED)
  await page.getByText('except birch: halted').waitFor()
  expect(await page.evaluate('window.isSame')).toBe(true)
  await resume(redis, 'birch', ORDERED)
  await page.getByText('Every strategy sends its signals.').waitFor()
  const updates = (answer: (route: Route) => unknown) =>
    page.route('**/ops/view/live', route =>
      route.request().headers()['x-highwater-update'] === '1' ? answer(route) : route.continue(),
    )
  await updates(route => route.abort())
  const old = page.getByText(/^Not up to date since \d\d:\d\d:\d\d UTC: the service does not answer\./)
  await old.waitFor()
  await page.unrouteAll()
  await old.waitFor({ state: 'detached' })
  expect(await page.evaluate('window.isSame')).toBe(true)
  const loadedAgain = page.waitForEvent('load')
  await updates(route => route.fulfill({ status: 403 }))
  await loadedAgain
  await page.unrouteAll()
  await page.goto(`${url}/ops/view/clients/acme-capital`)
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
  expect(violationsIn(complaints)).toEqual([])
})

test('no operator page is wider than the window, on a screen and on a phone, where it is accessible and shows tables without scrolling', async () => {
  const { page } = await logIn(1280)
  const names = ['clients', 'clients/north-ridge', 'signals', 'signals/3', 'deliveries', 'live', 'audit']
  for (const path of ['/ops', ...names.map(name => `/ops/view/${name}`)]) {
    await page.goto(url + path)
    await expectFitting(page, path)
  }
})
