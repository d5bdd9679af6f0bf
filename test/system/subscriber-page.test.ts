// The page for subscribers in a real browser: what a new subscriber does, from the link of an operator to a delivery.
import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { listenSignals } from '#api/signals/app.ts'
import { mainOperator } from '#signals/operators/tokens.ts'
import { createLink } from '#signals/subscribers/sessions.ts'
import {
  expectFitting,
  expectReadable,
  openBlank,
  photograph,
  violationsIn,
} from '../support/browser/shared-browser.ts'
import { atEnd } from '../support/ends.ts'
import { REAL_CLOCK, relayAll, startTestDelivery } from '../support/signals/delivery.ts'
import { settleAs } from '../support/signals/operator-scene.ts'
import { startReceiver } from '../support/signals/receiver.ts'
import { addClient, fire } from '../support/signals/signals.ts'
import { registerParts, signalsParts } from '../support/signals/signals-app.ts'
import { redis, server, useRedis } from '../support/signals/test-redis.ts'

let url: string

useRedis()
beforeEach(async () => {
  const { parts } = signalsParts(redis, { clock: REAL_CLOCK })
  const registering = {
    ...registerParts(redis, REAL_CLOCK.now),
    drawBytes: (size: number) => randomBytes(size),
  }
  const signals = await listenSignals(() => ({ ...parts, registering }), '127.0.0.1', 0)
  atEnd(() => signals.close())
  url = signals.url
  await addClient(redis, 'acme', ['alder', 'birch'], size => randomBytes(size))
})

/** Opens the link of an operator, which logs in by itself. */
async function openLink(width: number) {
  const operator = mainOperator('the token of an operator')
  const { token } = await createLink(redis, 'acme', operator, size => randomBytes(size), REAL_CLOCK.now())
  const opened = await openBlank({ width })
  await opened.page.goto(`${url}/account/login#${token}`)
  await opened.page.waitForURL(`${url}/account`)
  return opened
}

test('a new subscriber follows the link of an operator, sets an endpoint with the keyboard, fires a test and sees it delivered', async () => {
  const delivery = await startTestDelivery(server.url)
  atEnd(delivery.stop)
  const receiver = await startReceiver()
  const { page, complaints } = await openLink(1280)
  await page.getByRole('link', { name: 'Endpoints' }).last().press('Enter')
  await page.getByLabel('Address').fill(receiver.urlOf('hook'))
  await page.keyboard.press('Enter')
  expect(await page.locator('code.secret').innerText()).toMatch(/^whsec_/)
  await photograph(page, 'account-secret')
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByRole('button', { name: 'Fire a test' }).press('Enter')
  await page.getByRole('status').waitFor()
  await page.getByText(/^delivered at /).waitFor({ timeout: 60_000 }) // the page follows what happens
  expect(receiver.received.map(({ headers }) => headers['webhook-signature'] !== undefined)).toEqual([true])
  expect(violationsIn(complaints)).toEqual([])
})

test('no page for subscribers is wider than the window or inaccessible, on a screen and on a phone, which shows tables without scrolling and a delivery in three lines', async () => {
  const { page } = await openLink(1280)
  await page.goto(`${url}/account/endpoints`)
  await photograph(page, 'account-first')
  const csrf = await page.locator('input[name=csrf]').first().inputValue()
  for (const name of ['default', 'backup'])
    await page.request.post(`${url}/account/endpoints/${name}/put`, {
      form: { csrf, url: `https://${name}.example.org/in` },
      headers: { origin: url },
    })
  for (const id of ['a', 'b', 'c']) await fire(redis, id, 'alder', null, REAL_CLOCK.now())
  await relayAll(redis, REAL_CLOCK.now)
  await settleAs(redis, 3, 'acme', 'exhausted', 2)
  await settleAs(redis, 4, 'acme/backup', 'delivered', 1)
  for (const path of ['', '/deliveries', '/deliveries/3', '/endpoints', '/notices']) {
    await page.goto(`${url}/account${path}`)
    await page.evaluate("document.querySelector('details')?.setAttribute('open', '')")
    await expectReadable(page, `account${path}`, [[1280, 'light']])
    await expectFitting(page, `account${path}`)
    const tallest = 'Math.max(0, ...[...document.querySelectorAll(".short tr")].map(row => row.offsetHeight))'
    expect([path, await page.evaluate(tallest)]).toEqual([path, expect.toSatisfy(height => height < 100)])
  }
})
