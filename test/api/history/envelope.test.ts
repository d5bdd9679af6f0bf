// Every route of the table answers as the specification says, at every parameter, and links to what answers.
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { meta as metaSchema } from '#core/contract/payloads/meta.ts'
import { dataSchema } from '#core/contract/route.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { getEnvelope, openTiny } from './answers.ts'
import { undescribedFields } from './described.ts'
import { jsonAddressesOf } from './paths.ts'
import { REGISTER } from './specification.ts'

const opened = await openTiny()

const get = (address: string) => getEnvelope(opened.app, address)

/** What the register carries beside its fixed block, by the table of the specification. */
const EXTRA: Readonly<Record<string, readonly string[]>> = {
  healthz: [],
  readyz: [],
  version: [],
  versions: [],
  strategies: ['count'],
  summary: [],
  dataset: [],
  correlation: ['period', 'note'],
  export: ['period', 'modelled', 'note'],
  benchmark: ['note'],
  strategy: [],
  stats: ['modelled', 'time_underwater_footnote', 'note'],
  returns: ['period', 'risk_pct', 'note'],
  curve: ['risk_pct', 'note'],
  rolling: ['risk_pct', 'note'],
  risk: ['risk_pct', 'note'],
  trades: ['count', 'note'],
  live: ['risk_pct', 'note'],
}

test.each(ROUTES)(
  'the data and the meta of $path are as the specification and its schema say',
  async route => {
    for (const address of jsonAddressesOf(route)) {
      const { response, data, meta } = await get(address)
      expect(response.status, address).toBe(200)
      expect(response.headers.get('content-type'), address).toBe('application/json; charset=utf-8')
      expect(dataSchema(route).safeParse(data).error, address).toBeUndefined()
      expect(undescribedFields(dataSchema(route), data), address).toEqual([])
      expect(undescribedFields(metaSchema, meta), address).toEqual([])
      expect(REGISTER.safeParse(meta).error, address).toBeUndefined()
      expect(metaSchema.safeParse(meta).error, address).toBeUndefined()
      expect(Object.keys(meta), address).toEqual(expect.arrayContaining([...EXTRA[route.id]!]))
      expect(meta.dataset_version).toBe(TINY_VERSION)
    }
    const { meta, response } = await get(jsonAddressesOf(route)[0]!)
    const isLive = route.group === 'infrastructure'
    expect(meta.generated_utc).toBe(isLive ? '2025-02-25T00:00:00Z' : TINY_VERSION)
    expect(meta.timing_ms).toBe(isLive ? 0 : null)
    expect(response.headers.get('server-timing')).toBe(isLive ? null : 'app;dur=0')
  },
)

const request = (address: string) => opened.app.request(address)
const linksAt = async (address: string) => (await getEnvelope(opened.app, address)).links

const BOOK = ['strategies', 'summary', 'dataset', 'correlation', 'export', 'benchmark']
const STRATEGY = ['strategy', 'stats', 'returns', 'curve', 'rolling', 'risk', 'trades', 'live', 'strategies']
const without = (names: readonly string[], own: string) => names.filter(name => name !== own)

/** The siblings of every route, by the decisions; what speaks of the process only has to lead somewhere. */
const siblingsOf = (id: string, kind: string): readonly string[] =>
  kind === 'book' ? without(BOOK, id) : kind === 'strategy' ? without(STRATEGY, id) : []

test.each(ROUTES)('$path links to its own bytes and to its siblings, which answer 200', async route => {
  for (const address of jsonAddressesOf(route)) {
    const { self = '', ...siblings } = await linksAt(address)
    const expected = siblingsOf(route.id, route.group)
    if (expected.length > 0) expect(Object.keys(siblings).sort(), address).toEqual([...expected].sort())
    for (const link of [self, ...Object.values(siblings)]) {
      expect(link.startsWith('/'), link).toBe(true)
      expect((await request(link)).status, link).toBe(200)
    }
    expect(await (await request(self)).text(), self).toBe(await (await request(address)).text())
    expect((await linksAt(self)).self).toBe(self)
  }
})

test.each([
  ['/v1/export?period=daily&format=json', '/v1/export'],
  ['/v1/export?risk_pct=0.020&period=weekly', '/v1/export?period=weekly&risk_pct=0.02'],
  ['/v1/correlation?ids=yew&ids=%20ash%20,yew', '/v1/correlation?ids=yew,ash'],
  ['/v1/correlation?ids=ash,beech,elm,yew', '/v1/correlation'],
  ['/v1/correlation?ids=ash%2Cbeech&ids=elm&ids=yew&period=weekly', '/v1/correlation?period=weekly'],
  ['/v1/correlation?ids=yew,elm,beech,ash', '/v1/correlation?ids=yew,elm,beech,ash'],
  ['/v1/strategies/%61sh/stats?risk_pct=2E-2', '/v1/strategies/ash/stats?risk_pct=0.02'],
  ['/v1/strategies/ash/stats?risk_pct=00.50', '/v1/strategies/ash/stats?risk_pct=0.5'],
  ['/v1/strategies/ash/stats?risk_pct=1e-9', '/v1/strategies/ash/stats?risk_pct=0.000000001'],
  [
    '/v1/strategies/ash/returns?to=2024-03-01&from=2024-02-01&risk_pct=0.05',
    '/v1/strategies/ash/returns?from=2024-02-01&risk_pct=0.05&to=2024-03-01',
  ],
])('the canonical address of %s is %s', async (address, canonical) => {
  expect((await linksAt(address)).self).toBe(canonical)
  expect(await (await request(address)).text()).toBe(await (await request(canonical)).text())
})
