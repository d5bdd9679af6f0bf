// The relations of every answer: `self` is the one canonical spelling, and nothing points into the void.
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { getEnvelope, openTiny } from './answers.ts'
import { jsonAddressesOf, pathOf } from './paths.ts'

const opened = await openTiny()

const request = (address: string) => opened.app.request(address)
const linksAt = async (address: string) => (await getEnvelope(opened.app, address)).links

const BOOK = ['strategies', 'summary', 'dataset', 'correlation', 'export', 'benchmark']
const STRATEGY = ['strategy', 'stats', 'returns', 'curve', 'rolling', 'trades', 'strategies']
const without = (names: readonly string[], own: string) => names.filter(name => name !== own)

/** The siblings of every route, by the decisions; what speaks of the process only has to lead somewhere. */
const siblingsOf = (id: string, kind: string): readonly string[] =>
  kind === 'book' ? without(BOOK, id) : kind === 'strategy' ? without(STRATEGY, id) : []

test.each(ROUTES)('$path links to itself and its siblings, and every link answers 200', async route => {
  for (const address of jsonAddressesOf(route)) {
    const { self, ...siblings } = await linksAt(address)
    const expected = siblingsOf(route.id, route.group)
    if (expected.length > 0) expect(Object.keys(siblings).sort(), address).toEqual([...expected].sort())
    for (const link of [self ?? '', ...Object.values(siblings)]) {
      expect(link.startsWith('/'), link).toBe(true)
      expect((await request(link)).status, link).toBe(200)
    }
  }
})

test.each(ROUTES)('the self link of $path answers the same bytes and names itself', async route => {
  for (const address of jsonAddressesOf(route)) {
    const { self = '' } = await linksAt(address)
    expect(await (await request(self)).text(), self).toBe(await (await request(address)).text())
    expect((await linksAt(self)).self).toBe(self)
  }
})

test.each(ROUTES)('query keys that resemble no parameter do not change $path or its address', async route => {
  const path = pathOf(route)
  const plain = await (await request(path)).text()
  expect(await (await request(`${path}?utm_source=x&_=1&cachebuster=1&v=2&`)).text()).toBe(plain)
  expect((await linksAt(`${path}?color=red`)).self).toBe(path)
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
  [
    '/v1/strategies/ash/returns?to=2024-03-01&from=2024-02-01&risk_pct=0.05',
    '/v1/strategies/ash/returns?from=2024-02-01&risk_pct=0.05&to=2024-03-01',
  ],
])('the canonical address of %s is %s', async (address, canonical) => {
  expect((await linksAt(address)).self).toBe(canonical)
  expect(await (await request(address)).text()).toBe(await (await request(canonical)).text())
})
