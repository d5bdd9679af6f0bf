// `/program` over HTTP: it shows the open preview and nothing else, counts as the preview does, and is sound for every state.
import { beforeEach, expect, test } from 'vitest'
import { KEYLESS_BOUNDS } from '#api/signals/program/simulate.ts'
import { BENCHMARK_NAMES } from '#core/program/benchmarks.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { PAGE_POLICY } from '#pages/layout.ts'
import { programPage } from '#pages/program.ts'
import type { ServedProgram } from '#storage/published-files.ts'
import { PROGRAM, servedProgram } from '../../support/signals/served-program.ts'
import { createTestSignals, PAGE_ORIGIN } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { refusalOf } from './keyed-answers.ts'

let served: ServedProgram | null
let app: ReturnType<typeof createTestSignals>['app']
let errors: unknown[]

useRedis()
beforeEach(() => {
  served = PROGRAM
  ;({ app, errors } = createTestSignals(redis, { program: () => served }))
})

const parsed = <T>(bytes: Uint8Array): T => JSON.parse(new TextDecoder().decode(bytes)) as T

/** The numbers of a page as they were published, in its `<data>` elements. */
const numbersOn = (page: string): string[] =>
  [...page.matchAll(/<data value="([^"]*)">/g)].map(([, value = '']) => value)

const SIMULATED = '/program?equity_usd=25000&contribution_cadence_bars=14'

test('/program is HTML under the policy of the pages, with a style sheet that never changes', async () => {
  const response = await app.request('/program', { headers: { 'accept-encoding': 'gzip' } })
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip'])
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toBe(PAGE_POLICY)
  expect(response.headers.get('cache-control')).toBe('public, max-age=60')
  const page = await (await app.request('/program')).text()
  expect(page).not.toMatch(/<script|style="/)
  const [, path = '', integrity = ''] = /rel="stylesheet" href="([^"]+)" integrity="sha256-([^"]+)"/.exec(
    page,
  )!
  const style = await app.request(path)
  expect(style.headers.get('cache-control')).toContain('immutable')
  const digest = await crypto.subtle.digest('SHA-256', await style.arrayBuffer())
  expect(Buffer.from(digest).toString('base64')).toBe(integrity)
})

test('/program is made once a version, and not sent again to a reader that has it', async () => {
  const etag = (await app.request('/program')).headers.get('etag')!
  expect((await app.request('/program', { headers: { 'if-none-match': etag } })).status).toBe(304)
  served = servedProgram({ alias: 'another' })
  expect((await app.request('/program', { headers: { 'if-none-match': etag } })).status).toBe(200)
})

test('/program has the digits of the preview, and none that only the entitlement shows', async () => {
  const page = await (await app.request('/program')).text()
  const preview = parsed<{
    avg_cost_basis: number
    pct_deployed: number
    benchmarks: Record<string, { value: number; pct_cheaper: number }>
  }>(PROGRAM.documents.preview)
  const compared = BENCHMARK_NAMES.map(name => preview.benchmarks[name]!)
  const shown = [preview.avg_cost_basis, preview.pct_deployed, ...compared.flatMap(Object.values)].map(String)
  const numbers = numbersOn(page)
  const inPreview = new TextDecoder().decode(PROGRAM.documents.preview)
  expect(numbers.filter(value => value !== '' && !inPreview.includes(value))).toEqual([])
  expect(
    shown.filter(value => !numbers.includes(value) && !inPreview.includes(`advantage_bps":${value}`)),
  ).toEqual([])
  const deploys = parsed<{ deploy_id: string; price: number; timestamp: string; btc: number }[]>(
    PROGRAM.documents.deploys,
  )
  const keyed = deploys.flatMap(({ deploy_id, timestamp, btc }) => [deploy_id, timestamp, String(btc)])
  const { at_equal_cash, money_weighted_return_pct } = parsed<{
    at_equal_cash: { value: number }
    money_weighted_return_pct: number
  }>(PROGRAM.documents['performance-dca'])
  const secrets = [...keyed, String(at_equal_cash.value), String(money_weighted_return_pct)].filter(
    text => !inPreview.includes(text), // the last purchase may be at the newest bar
  )
  expect(secrets.length).toBeGreaterThan(100)
  expect(secrets.filter(secret => page.includes(secret))).toEqual([])
})

test('/program is the same for two programs with one preview, whatever else differs', () => {
  const pageOf = ({ dataset, documents }: ServedProgram, equity: number) =>
    programPage({
      ...{ preview: parsed(documents.preview), dataset, historyUrl: null, style: '/s.css', integrity: {} },
      simulator: { bounds: { ...KEYLESS_BOUNDS, equity_usd: [equity, 1e6] }, answer: null },
    })
  const other = servedProgram({ reference_equity_usd: 777_777 })
  expect(other.documents.basket).not.toEqual(PROGRAM.documents.basket)
  expect(pageOf(other, 100)).toBe(pageOf(PROGRAM, 100))
  expect(pageOf(other, 101)).not.toBe(pageOf(PROGRAM, 100))
})

const { from } = PROGRAM.data.plan.window
const states: [string, Partial<ProgramPlan>, number, string][] = [
  ['before its window', {}, 100, 'Not started:'],
  ['while it buys', {}, 650, 'Accumulating:'],
  ['without a deployment', { paused: [{ from, to: null }] }, 650, 'Paused by the operator:'],
  ['when it is paused', { paused: [{ from: from + 300, to: null }] }, 650, 'Paused by the operator:'],
  ['when it is complete', { window: { from, to: from + 199 } }, 650, 'Complete:'],
  ['without any bar', {}, 0, 'Not started:'],
]
test.each(states)('/program is whole and without undefined numbers %s', async (_, change, days, sentence) => {
  served = servedProgram(change, PROGRAM.version, days)
  for (const path of ['/program', SIMULATED]) {
    const response = await app.request(path)
    const page = await response.text()
    expect([path, response.status]).toEqual([path, 200])
    expect(page).toContain(sentence)
    expect(page).not.toMatch(/NaN|undefined|null|Infinity|-0\.0|−0\.00? /)
  }
  expect(errors).toEqual([])
})

test('/program links to the history by the address that the operator states, and calls its benchmarks by words', async () => {
  const page = await (await app.request('/program')).text()
  expect(page).toContain('<a href="https://data.example.org/explore">Explore</a>')
  const shown = page.replaceAll(/<code>.*?<\/code>/gs, '').replaceAll(/<[^>]*>/g, ' ')
  expect(shown).toContain('market average')
  expect(shown).not.toMatch(/\b(?:dca|vwap|hodl)\b|[a-z]_[a-z]/)
})

test('/program escapes names, and says what the version says of itself', async () => {
  const name = '<img src=x onerror=alert(1)>"&'
  served = servedProgram({ alias: name, instrument: name })
  const dataset = {
    ...served.dataset,
    name,
    disclaimer: name,
    synthetic: true,
    public_url: 'https://h.example',
  }
  served = { ...served, dataset }
  const page = await (await app.request('/program')).text()
  expect(page).not.toContain('<img')
  expect(page.split('&lt;img src=x onerror=alert(1)&gt;&quot;&amp;').length).toBeGreaterThan(5)
  expect(page).toContain('Synthetic data.')
  expect(page).toContain('href="https://h.example/explore"')
})

test('/program is 404 without a program, and refuses POST and other origins', async () => {
  served = null
  const missing = await app.request('/program')
  expect([missing.status, (await refusalOf(missing)).code]).toEqual([404, 'not_found'])
  const posted = await app.request('/program', { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  const origin = await app.request('/program', { headers: { origin: PAGE_ORIGIN } })
  expect(origin.headers.get('access-control-allow-origin')).toBeNull()
})

test('the form of /program answers the open simulation to the digit, brings input to its bounds, and says so', async () => {
  const simulate = async (equity_usd: number, contribution_cadence_bars: number) => {
    const answer = await app.request('/v1/program/preview/simulate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ equity_usd, contribution_cadence_bars }),
    })
    return ((await answer.json()) as { data: { total_btc_accumulated: number; total_usd_deployed: number } })
      .data
  }
  const inside = await app.request(SIMULATED)
  expect(inside.headers.get('cache-control')).toBe('no-store')
  const expected = await simulate(25_000, 14)
  const page = await inside.text()
  expect(numbersOn(page)).toContain(String(expected.total_btc_accumulated))
  expect(numbersOn(page)).toContain(String(expected.total_usd_deployed))
  expect(page).not.toContain('brought to the bounds')
  const beyond = await (await app.request('/program?equity_usd=5e9&contribution_cadence_bars=-3')).text()
  expect(numbersOn(beyond)).toContain(String((await simulate(1_000_000, 1)).total_btc_accumulated))
  expect(beyond).toContain('brought to the bounds')
})

test.each([
  ['equity_usd=25000', ['contribution_cadence_bars']],
  ['equity_usd=&contribution_cadence_bars=7', ['equity_usd']],
  ['equity_usd=%3Cb%3E&contribution_cadence_bars=1.5', ['equity_usd', 'contribution_cadence_bars']],
  ['equity_usd=Infinity&contribution_cadence_bars=NaN', ['equity_usd', 'contribution_cadence_bars']],
])('the form of /program refuses the input %s', async (query, params) => {
  const refused = await app.request(`/program?${query}`)
  const { code, details } = await refusalOf(refused)
  expect([refused.status, code]).toEqual([422, 'validation_error'])
  expect((details as { param: string }[]).map(({ param }) => param)).toEqual(params)
})

const statuses = async (times: number, path: string) => {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push((await app.request(path)).status)
  return all.filter(status => status === 200).length
}

test('the limit of the preview counts /program, and that of the simulation counts its form', async () => {
  expect((await app.request('/v1/program/preview')).headers.get('ratelimit')).toBe('"preview";r=59;t=60')
  expect((await app.request('/program')).headers.get('ratelimit')).toBe('"preview";r=58;t=60')
  expect(await statuses(60, '/program')).toBe(58)
  expect((await app.request('/v1/program/preview')).status).toBe(429)
  expect((await app.request('/program?equity_usd=x')).headers.get('ratelimit')).toBe('"simulate";r=9;t=60')
  expect(await statuses(11, SIMULATED)).toBe(9)
  const refused = await app.request(SIMULATED)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await refusalOf(refused)).code).toBe('rate_limited')
})
