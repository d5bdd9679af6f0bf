// `/program` in a real browser that reaches nothing but the service: in either scheme, at either width, and its form without a script.
import { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { startServer } from '#api/http/http-server.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import type { ServedProgram } from '#storage/published-program.ts'
import { expectReadable, openPage, photograph } from '../support/browser/shared-browser.ts'
import { atEnd } from '../support/ends.ts'
import { servedProgram } from '../support/signals/served-program.ts'
import { signalsParts } from '../support/signals/signals-app.ts'

const ACCUMULATING = servedProgram()
const NAMED = {
  ...servedProgram({
    alias: 'a-program-with-a-name-as-long-as-it-may-be',
    instrument: '<b>B&W</b>'.repeat(5),
  }),
  dataset: { ...ACCUMULATING.dataset, synthetic: true, public_url: 'https://history.example.org' },
}

let served: ServedProgram
let url: string

beforeAll(async () => {
  const redis = new Redis({ lazyConnect: true, enableOfflineQueue: false }) // none is there: the process counts requests
  redis.disconnect()
  const { parts } = signalsParts(redis, { program: () => served })
  const server = await startServer(() => createSignalsApp(parts).fetch, '127.0.0.1', 0)
  atEnd(() => server.close())
  url = server.url
})

test.each<[string, ServedProgram]>([
  ['accumulates', ACCUMULATING],
  ['has the longest names and synthetic data', NAMED],
  ['has not started and has no figure', servedProgram({}, ACCUMULATING.version, 100)],
])(
  'the page of a program that %s is accessible and fits the window, at either width in either scheme',
  async (what, program) => {
    served = program
    const { page, complaints } = await openPage(`${url}/program`)
    await expectReadable(page, `program ${what}`)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('svg.shares')).display`)).toBe(
      'block',
    )
    expect(complaints).toEqual([])
  },
)

test('the page of the program answers its form without a script, with the digits of the open simulation', async () => {
  served = ACCUMULATING
  const { page, complaints } = await openPage(`${url}/program`, { width: 390 })
  await page.getByLabel('Equity, US$').fill('25000')
  await page.getByLabel('Bars between').fill('14')
  await page.getByRole('button', { name: 'Simulate' }).click()
  await page.locator('[aria-labelledby=simulation]').waitFor()
  expect(page.url()).toBe(`${url}/program?equity_usd=25000&contribution_cadence_bars=14#simulation`)
  const answer = await fetch(`${url}/v1/program/preview/simulate`, {
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
