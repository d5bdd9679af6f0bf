// The routes of the program: what was published, to the byte, what is computed from the same data, and what is refused,
// of which nothing is stored.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { profileRequest, simulationRequest } from '#api/signals/program/simulate.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { programBasket, programDeploys, programSimulation } from '#core/contract/payloads/program.ts'
import { renderBasket, renderDeploys, renderSimulation } from '#core/dataset/resources/program/records.ts'
import { entitleClient } from '#signals/clients/clients.ts'
import { readProfile } from '#signals/program/profile.ts'
import { profileKey } from '#signals/redis/keys.ts'
import type { ServedProgram } from '#storage/published-files.ts'
import { PROGRAM, servedProgram } from '../../support/signals/served-program.ts'
import { addClient, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, withKey } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { envelopeOf, refusalOf } from './keyed-answers.ts'

type Client = ReturnType<typeof programClient>

let app: ReturnType<typeof createTestSignals>['app']
let clock: ReturnType<typeof createTestSignals>['clock']
let served: ServedProgram | null
let client: Client
let stranger: Client
let unentitled: Client

useRedis()
beforeAll(() => {
  ;({ app, clock } = createTestSignals(redis, { program: () => served }))
})
beforeEach(async () => {
  served = PROGRAM
  clock.ms = 0
  client = programClient(app, await addEntitled('acme'))
  unentitled = programClient(app, (await addClient(redis, 'other', ['alder'], seededBytes('other'))).token)
  stranger = programClient(app, '')
})

async function addEntitled(id: string): Promise<string> {
  const { token } = await addClient(redis, id, [], seededBytes(id))
  await entitleClient(redis, id, { program: true }, PROGRAM_ALIAS)
  return token
}

/** Asks an app with a key, or without one if it is empty. */
function programClient(app: ReturnType<typeof createTestSignals>['app'], token: string) {
  const send = async (
    method: 'PUT' | 'POST',
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ) => app.request(path, { method, headers: { 'X-API-Key': token, ...headers }, body })
  return {
    get: async (path: string) => app.request(path, withKey(token)),
    send,
    put: (path: string, body: unknown) => send('PUT', path, JSON.stringify(body)),
    post: (path: string, body: unknown) => send('POST', path, JSON.stringify(body)),
  }
}

const dataOf = async (response: Response): Promise<unknown> => (await envelopeOf(response)).data

const parsed = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

test.each([
  ['/v1/program/preview', 'preview'],
  ['/v1/program', 'manifest'],
  ['/v1/program/basket', 'basket'],
  ['/v1/program/basket?view=reference', 'basket'],
  ['/v1/program/performance', 'performance-dca'],
  ['/v1/program/performance?benchmark=dca', 'performance-dca'],
  ['/v1/program/performance?benchmark=hodl', 'performance-hodl'],
  ['/v1/program/performance?benchmark=lump_sum', 'performance-lump_sum'],
] as const)('%s answers what was published of the program, to the byte', async (path, document) => {
  const text = await (await client.get(path)).text()
  const bytes = new TextDecoder().decode(PROGRAM.documents[document])
  expect(
    text.startsWith(
      `{"data":${bytes},"meta":{"generated_utc":"2026-11-21T00:00:05Z","timing_ms":0},"links":{"self":"/v1`,
    ),
  ).toBe(true)
  await envelopeOf(new Response(text, { headers: { 'content-type': 'application/json; charset=utf-8' } }))
})

test('the program of the next night is answered from the next request on', async () => {
  expect(await dataOf(await client.get('/v1/program'))).toMatchObject({ contribution_cadence_bars: 7 })
  const before = await dataOf(await client.get('/v1/program/deploys'))
  served = servedProgram({ contribution_cadence_bars: 30 }, '2026-11-22T00:00:00Z')
  expect(await dataOf(await client.get('/v1/program'))).toMatchObject({ contribution_cadence_bars: 30 })
  expect(await dataOf(await client.get('/v1/program/deploys'))).not.toEqual(before)
  const input = { equity_usd: 1000, contribution_cadence_bars: 30 }
  const simulation = await client.post('/v1/program/simulate', input)
  expect(await dataOf(simulation)).toMatchObject({ alias: PROGRAM_ALIAS, input })
})

const all = renderDeploys(PROGRAM.data)

test('deployments since 0 are all of them, since a number those after it, and since the last none', async () => {
  expect(all.length).toBeGreaterThan(50)
  for (const since of [0, 1, 17, all.length - 1, all.length, all.length + 1, Number.MAX_SAFE_INTEGER]) {
    const { data, meta, links } = await envelopeOf(await client.get(`/v1/program/deploys?since=${since}`))
    expect(data).toEqual(all.slice(since))
    const last_seq = Math.max(all.length, since)
    expect(meta).toMatchObject({ count: last_seq - since, last_seq })
    expect(links).not.toHaveProperty('next')
  }
})

test('deployments in pages are the same as at once, each once and in order', async () => {
  const seqs: number[] = []
  let path: string | undefined = '/v1/program/deploys?limit=20'
  while (path !== undefined) {
    const { data, links } = await envelopeOf(await client.get(path))
    expect(links.self).toBe(path)
    seqs.push(...programDeploys.parse(data).map(({ seq }) => seq))
    path = links.next
  }
  expect(seqs).toEqual(all.map(({ seq }) => seq))
})

test('deployments as CSV are the fields of the JSON in their order, a row each, and none are the header alone', async () => {
  const response = await client.get('/v1/program/deploys?since=3&limit=20&format=csv')
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="deploys-since-3.csv"')
  const [header = '', ...rows] = (await response.text()).trimEnd().split('\r\n')
  const shown = renderDeploys(PROGRAM.data).slice(3, 23)
  expect(header.split(',')).toEqual(Object.keys(shown[0]!))
  expect(rows).toEqual(shown.map(deploy => Object.values(deploy).join(',')))
  const none = await client.get('/v1/program/deploys?since=100000&format=csv')
  expect(await none.text()).toBe(`${header}\r\n`)
})

test('a profile is stored exactly as it was asked for, and answered again', async () => {
  for (const path of ['profile', 'basket?view=personal']) {
    const response = await client.get(`/v1/program/${path}`)
    expect([response.status, await codeOf(response)]).toEqual([404, 'profile_not_set'])
  }
  clock.ms = 1_000
  const asked = { equity_usd: 12_345.678_901_234_5, contribution_cadence_bars: 3_650 }
  const at = { updated_utc: '2026-11-21T00:00:06Z' }
  const data = { schema_version: '1.0', alias: PROGRAM_ALIAS, ...asked, ...at }
  expect(await dataOf(await client.put('/v1/program/profile', { ...asked, colour: 'red' }))).toEqual(data)
  clock.ms = 5_000
  expect(await dataOf(await client.get('/v1/program/profile'))).toEqual(data)
})

test('a stored profile that is none is an error, and not another basket', async () => {
  await redis.set(profileKey('acme'), '{"equity_usd":"1000"}')
  await expect(readProfile(redis, 'acme')).rejects.toThrow('equity_usd')
})

test('a profile belongs to one client, and is replaced as a whole', async () => {
  const other = programClient(app, await addEntitled('other'))
  await client.put('/v1/program/profile', { equity_usd: 1, contribution_cadence_bars: 1 })
  await other.put('/v1/program/profile', { equity_usd: 2, contribution_cadence_bars: 5 })
  await client.put('/v1/program/profile', { equity_usd: 3, contribution_cadence_bars: 9 })
  const last = { equity_usd: 3, contribution_cadence_bars: 9 }
  expect(await dataOf(await client.get('/v1/program/profile'))).toMatchObject(last)
  expect(await dataOf(await other.get('/v1/program/profile'))).toMatchObject({ equity_usd: 2 })
})

test.each([1, 7, 30, 3_650])('the personal basket at cadence %i simulates the profile', async cadence => {
  const profile = { equity_usd: 54_321.5, contribution_cadence_bars: cadence }
  await client.put('/v1/program/profile', profile)
  const basket = programBasket.parse(await dataOf(await client.get('/v1/program/basket?view=personal')))
  expect(basket).toEqual(renderBasket(PROGRAM.data, 'personal', profile))
  const newest = programDeploys.parse(parsed(PROGRAM.documents.deploys)).at(-1)
  expect(basket.last_deploy_seq).toBe(newest?.seq) // of the deployments that can be pulled, at any cadence
  const simulation = programSimulation.parse(await dataOf(await client.post('/v1/program/simulate', profile)))
  expect(basket.totals).toMatchObject({
    deployed_usd: simulation.total_usd_deployed,
    btc: simulation.total_btc_accumulated,
    avg_cost_basis: simulation.avg_cost_basis,
  })
})

test('the personal basket of the equity and cadence of the program is the reference basket but for its name', async () => {
  await client.put('/v1/program/profile', { equity_usd: 100_000, contribution_cadence_bars: 7 })
  const personal = await dataOf(await client.get('/v1/program/basket?view=personal'))
  expect(personal).toEqual({
    ...z.looseObject({}).parse(parsed(PROGRAM.documents.basket)),
    view: 'personal',
  })
})

test('without a published program every route of it says so, and the rest of the service goes on', async () => {
  served = null
  const input = { equity_usd: 1000, contribution_cadence_bars: 7 }
  const read = ['', '/basket', '/deploys', '/performance', '/profile', '/preview']
  for (const response of await Promise.all([
    ...read.map(path => client.get(`/v1/program${path}`)),
    client.put('/v1/program/profile', input),
    client.post('/v1/program/simulate', input),
    client.post('/v1/program/preview/simulate', input),
  ])) {
    const message = 'no accumulation program is published'
    expect([response.status, await refusalOf(response)]).toMatchObject([404, { code: 'not_found', message }])
  }
  expect((await client.get('/v1/whoami')).status).toBe(200)
})

test.each([
  ['keyed', '/v1/program/simulate', 25_000, 14, 25_000, 14],
  ['keyed', '/v1/program/simulate', 0.5, 0, 1, 1],
  ['keyed', '/v1/program/simulate', 2e9, 3_651, 1e9, 3_650],
  ['keyed', '/v1/program/simulate', 1e300, 1e300, 1e9, 3_650],
  ['keyed', '/v1/program/simulate', -7, -7, 1, 1],
  ['keyless', '/v1/program/preview/simulate', 25_000, 14, 25_000, 14],
  ['keyless', '/v1/program/preview/simulate', 99.99, 0, 100, 1],
  ['keyless', '/v1/program/preview/simulate', 1_000_000.01, 91, 1_000_000, 90],
  ['keyless', '/v1/program/preview/simulate', 100, 90, 100, 90],
  ['keyless', '/v1/program/preview/simulate', 1_000_000, 1, 1_000_000, 1],
] as const)(
  'a %s simulation at %s with %d and %d uses %d and %d, and says so',
  async (_, path, equity, cadence, usedEquity, usedCadence) => {
    const requested = { equity_usd: equity, contribution_cadence_bars: cadence }
    const used = { equity_usd: usedEquity, contribution_cadence_bars: usedCadence }
    const { data, meta } = await envelopeOf(await client.post(path, requested))
    expect(data).toEqual(renderSimulation(PROGRAM.data, used))
    expect(data).toMatchObject({ input: used })
    const input_clamped = equity !== usedEquity || cadence !== usedCadence
    expect(meta).toMatchObject({ requested, input_clamped })
  },
)

const JSON_TYPE = { 'content-type': 'application/json' }

const PROFILE = '/v1/program/profile'

const BODIES = [
  ['PUT', PROFILE],
  ['POST', '/v1/program/simulate'],
  ['POST', '/v1/program/preview/simulate'],
] as const

const codeOf = async (response: Response) => (await refusalOf(response)).code

test.each(['/basket?view=x', '/deploys?since=x', '/performance?benchmark=x'])(
  '%s is refused for its address, its key, its entitlement, and its query last',
  async path => {
    const at = `/v1/program${path}`
    expect(await codeOf(await stranger.post(`${at}&${'x'.repeat(9_000)}`, {}))).toBe('method_not_allowed')
    expect(await codeOf(await stranger.get(`${at}&${'x'.repeat(9_000)}`))).toBe('uri_too_long')
    expect(await codeOf(await stranger.get(at))).toBe('unauthorized')
    expect(await codeOf(await unentitled.get(at))).toBe('not_entitled')
    expect(await codeOf(await client.get(at))).toBe('validation_error')
  },
)

test.each(BODIES)(
  '%s %s refuses a body for its type, its size above 4 KiB, its form, and its content last',
  async (method, path) => {
    const huge = '{"equity_usd":1,'.padEnd(4_097)
    expect((await client.send(method, path, input('1000', '7').padEnd(4_096), JSON_TYPE)).status).toBe(200)
    if (!path.includes('preview')) {
      expect(await codeOf(await stranger.send(method, path, huge, {}))).toBe('unauthorized')
      expect(await codeOf(await unentitled.send(method, path, huge, {}))).toBe('not_entitled')
    }
    expect(await codeOf(await client.send(method, path, huge, {}))).toBe('unsupported_media_type')
    expect(await codeOf(await client.send(method, path, huge, { 'content-type': 'text/plain' }))).toBe(
      'unsupported_media_type',
    )
    expect(await codeOf(await client.send(method, path, huge, JSON_TYPE))).toBe('payload_too_large')
    for (const broken of ['{"equity_usd":1,', '', input('NaN', '7')])
      expect(await codeOf(await client.send(method, path, broken, JSON_TYPE))).toBe('bad_request')
    await redis.del(profileKey('acme'))
    expect(await codeOf(await client.send(method, path, '{}', JSON_TYPE))).toBe('validation_error')
    expect(await redis.exists(profileKey('acme'))).toBe(0)
  },
)

const input = (equity: string, cadence: string) =>
  `{"equity_usd":${equity},"contribution_cadence_bars":${cadence}}`
const cadence = (value: string) =>
  wrong('contribution_cadence_bars', value, /expected a whole number of bars/)
const equity = (value: string) => wrong('equity_usd', value, /expected a finite number of US dollars/)
const wrong = (param: string, value: string, reason: RegExp) => ({
  param,
  value,
  reason: expect.stringMatching(reason),
})

type BadInput = readonly [body: string, details: readonly unknown[]]

const BAD_INPUTS: readonly BadInput[] = [
  [input('1000', '7.5'), [cadence('7.5')]],
  [input('1000', '1e-7'), [cadence('1e-7')]],
  [input('1000', '"7"'), [cadence('"7"')]],
  [input('1000', 'null'), [cadence('null')]],
  [input('1000', '1e999'), [cadence('Infinity')]],
  [input('"1000"', '7'), [equity('"1000"')]],
  [input('true', '7'), [equity('true')]],
  [input('[1000]', '7'), [equity('[1000]')]],
  [input('1e999', '7'), [equity('Infinity')]],
  [input('-1e999', '7'), [equity('-Infinity')]],
  ['{"equity_usd":"much"}', [equity('"much"'), cadence('nothing')]],
  ...['[]', 'null', '7', JSON.stringify('{}')].map(
    (body): BadInput => [body, [expect.objectContaining({ param: 'body', value: body })]],
  ),
]

test.each([
  ['simulation', simulationRequest],
  ['profile', profileRequest],
])('the input of a %s is refused with all that is wrong of it', (_, request) => {
  for (const [body, details] of BAD_INPUTS)
    expect(() => parseRequest(request, JSON.parse(body)), body).toThrow(
      expect.objectContaining({ code: 'validation_error', details }),
    )
})

test.each([
  [0.999_999, 7, 'equity_usd', 'from 1 to 1000000000'],
  [1_000_000_000.01, 7, 'equity_usd', 'from 1 to 1000000000'],
  [1_000, 0, 'contribution_cadence_bars', 'from 1 to 3650'],
  [1_000, 3_651, 'contribution_cadence_bars', 'from 1 to 3650'],
  [1_000, -7, 'contribution_cadence_bars', 'from 1 to 3650'],
])('a profile of %d and %d is refused, and one at the bounds stays', async (usd, bars, param, reason) => {
  for (const [equity_usd, contribution_cadence_bars] of [
    [1, 1],
    [1_000_000_000, 3_650],
  ])
    expect((await client.put(PROFILE, { equity_usd, contribution_cadence_bars })).status).toBe(200)
  const before = await redis.get(profileKey('acme'))
  const response = await client.put(PROFILE, { equity_usd: usd, contribution_cadence_bars: bars })
  expect(response.status).toBe(422)
  expect((await refusalOf(response)).details).toMatchObject([
    { param, reason: expect.stringContaining(reason) },
  ])
  expect(await redis.get(profileKey('acme'))).toBe(before)
})
