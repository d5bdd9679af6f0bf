// What the program's routes answer: what was published, to the byte, and what is computed from the same data.
import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  programBasket,
  programDeploy,
  programDeploys,
  programSimulation,
} from '#core/contract/payloads/program.ts'
import { renderBasket } from '#core/dataset/resources/program/basket.ts'
import { renderDeploys } from '#core/dataset/resources/program/deploys.ts'
import { suspendClient } from '#signals/clients/clients.ts'
import type { ServedProgram } from '#storage/published-program.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addEntitled, programClient } from '../../support/signals/program-client.ts'
import { PROGRAM, servedProgram } from '../../support/signals/served-program.ts'
import { PROGRAM_ALIAS } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
import { envelopeOf, refusalOf } from './keyed-answers.ts'

let redis: Redis
let app: ReturnType<typeof createTestSignals>['app']
let clock: ReturnType<typeof createTestSignals>['clock']
let served: ServedProgram | null
let client: ReturnType<typeof programClient>

useTestRedis(connected => {
  redis = connected
})
beforeEach(async () => {
  served = PROGRAM
  ;({ app, clock } = createTestSignals(redis, { program: () => served }))
  client = programClient(app, await addEntitled(redis, 'acme'))
})

const dataOf = async (response: Response): Promise<unknown> => (await envelopeOf(response)).data

const parsed = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

describe('what was published', () => {
  test.each([
    ['/v1/program/preview', 'preview'],
    ['/v1/program', 'manifest'],
    ['/v1/program/basket', 'basket'],
    ['/v1/program/basket?view=reference', 'basket'],
    ['/v1/program/performance', 'performance-dca'],
    ['/v1/program/performance?benchmark=dca', 'performance-dca'],
    ['/v1/program/performance?benchmark=hodl', 'performance-hodl'],
    ['/v1/program/performance?benchmark=lump_sum', 'performance-lump_sum'],
  ] as const)('is what %s answers, to the byte', async (path, document) => {
    const text = await (await client.get(path)).text()
    const bytes = new TextDecoder().decode(PROGRAM.documents[document])
    expect(
      text.startsWith(
        `{"data":${bytes},"meta":{"generated_utc":"2026-11-21T00:00:05Z","timing_ms":0},"links":{"self":"/v1`,
      ),
    ).toBe(true)
    await envelopeOf(new Response(text, { headers: { 'content-type': 'application/json; charset=utf-8' } }))
  })

  test('by the next night is answered from the next request on', async () => {
    expect(await dataOf(await client.get('/v1/program'))).toMatchObject({ contribution_cadence_bars: 7 })
    const before = await dataOf(await client.get('/v1/program/deploys'))
    served = servedProgram({ contribution_cadence_bars: 30 }, '2026-11-22T00:00:00Z')
    expect(await dataOf(await client.get('/v1/program'))).toMatchObject({ contribution_cadence_bars: 30 })
    expect(await dataOf(await client.get('/v1/program/deploys'))).not.toEqual(before)
    const simulation = await client.post('/v1/program/simulate', {
      equity_usd: 1000,
      contribution_cadence_bars: 30,
    })
    expect(await dataOf(simulation)).toMatchObject({
      alias: PROGRAM_ALIAS,
      input: { contribution_cadence_bars: 30 },
    })
  })

  test('is answered to a client that waits for its activation too', async () => {
    await suspendClient(redis, 'acme')
    expect((await client.get('/v1/program')).status).toBe(200)
    expect((await refusalOf(await client.get('/v1/signals/latest'))).code).toBe('account_not_active')
  })
})

describe('deployments', () => {
  const all = renderDeploys(PROGRAM.data)

  test('since 0 are all of them, since a number those after it, and since the last none', async () => {
    expect(all.length).toBeGreaterThan(50)
    for (const since of [0, 1, 17, all.length - 1, all.length, all.length + 1, Number.MAX_SAFE_INTEGER]) {
      const { data, meta, links } = await envelopeOf(await client.get(`/v1/program/deploys?since=${since}`))
      expect(data).toEqual(all.slice(since))
      expect(meta).toMatchObject({
        count: Math.max(all.length - since, 0),
        last_seq: Math.max(all.length, since),
      })
      expect(links).not.toHaveProperty('next')
    }
  })

  test('in pages are the same, each once and in order', async () => {
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
})

describe('deployments as CSV', () => {
  test('are the fields of the JSON in their order, a row each', async () => {
    const response = await client.get('/v1/program/deploys?since=3&limit=20&format=csv')
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="deploys-since-3.csv"')
    const [header = '', ...rows] = (await response.text()).trimEnd().split('\r\n')
    const shown = renderDeploys(PROGRAM.data).slice(3, 23)
    expect(header.split(',')).toEqual(Object.keys(shown[0]!))
    expect(rows).toEqual(shown.map(deploy => Object.values(deploy).join(',')))
  })

  test('of nothing are the header alone', async () => {
    const text = await (await client.get('/v1/program/deploys?since=100000&format=csv')).text()
    expect(text).toBe(`${Object.keys(programDeploy.shape).join(',')}\r\n`)
  })
})

describe('a profile', () => {
  test('is stored exactly as it was asked for, and answered again', async () => {
    expect((await refusalOf(await client.get('/v1/program/profile'))).code).toBe('profile_not_set')
    clock.ms = 1_000
    const asked = { equity_usd: 12_345.678_901_234_5, contribution_cadence_bars: 3_650 }
    const data = {
      schema_version: '1.0',
      alias: PROGRAM_ALIAS,
      ...asked,
      updated_utc: '2026-11-21T00:00:06Z',
    }
    expect(await dataOf(await client.put('/v1/program/profile', { ...asked, colour: 'red' }))).toEqual(data)
    clock.ms = 5_000
    expect(await dataOf(await client.get('/v1/program/profile'))).toEqual(data)
  })

  test('belongs to one client, and is replaced as a whole', async () => {
    const other = programClient(app, await addEntitled(redis, 'other'))
    await client.put('/v1/program/profile', { equity_usd: 1, contribution_cadence_bars: 1 })
    await other.put('/v1/program/profile', { equity_usd: 2, contribution_cadence_bars: 5 })
    await client.put('/v1/program/profile', { equity_usd: 3, contribution_cadence_bars: 9 })
    expect(await dataOf(await client.get('/v1/program/profile'))).toMatchObject({
      equity_usd: 3,
      contribution_cadence_bars: 9,
    })
    expect(await dataOf(await other.get('/v1/program/profile'))).toMatchObject({ equity_usd: 2 })
  })
})

describe('the personal basket', () => {
  test.each([1, 7, 30, 3_650])('at a cadence of %i is the simulation of the profile', async cadence => {
    const profile = { equity_usd: 54_321.5, contribution_cadence_bars: cadence }
    await client.put('/v1/program/profile', profile)
    const basket = programBasket.parse(await dataOf(await client.get('/v1/program/basket?view=personal')))
    expect(basket).toEqual(renderBasket(PROGRAM.data, 'personal', profile))
    const newest = programDeploys.parse(parsed(PROGRAM.documents.deploys)).at(-1)
    expect(basket.last_deploy_seq).toBe(newest?.seq) // of the deployments that can be pulled, at any cadence
    const simulation = programSimulation.parse(
      await dataOf(await client.post('/v1/program/simulate', profile)),
    )
    expect(basket.totals).toMatchObject({
      deployed_usd: simulation.total_usd_deployed,
      btc: simulation.total_btc_accumulated,
      avg_cost_basis: simulation.avg_cost_basis,
    })
  })

  test('of the program’s own equity and cadence is the reference basket but for its name', async () => {
    await client.put('/v1/program/profile', { equity_usd: 100_000, contribution_cadence_bars: 7 })
    const personal = await dataOf(await client.get('/v1/program/basket?view=personal'))
    expect(personal).toEqual({
      ...z.looseObject({}).parse(parsed(PROGRAM.documents.basket)),
      view: 'personal',
    })
  })
})

test('without a published program every route of it says so, and the rest of the service goes on', async () => {
  served = null
  const input = { equity_usd: 1000, contribution_cadence_bars: 7 }
  for (const response of [
    ...(await Promise.all(
      ['', '/basket', '/deploys', '/performance', '/profile', '/preview'].map(path =>
        client.get(`/v1/program${path}`),
      ),
    )),
    await client.put('/v1/program/profile', input),
    await client.post('/v1/program/simulate', input),
    await client.post('/v1/program/preview/simulate', input),
  ]) {
    expect(response.status).toBe(404)
    expect(await refusalOf(response)).toMatchObject({
      code: 'not_found',
      message: 'no accumulation program is published',
    })
  }
  expect((await client.get('/v1/whoami')).status).toBe(200)
})
