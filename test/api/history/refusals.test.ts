// Every parameter of every route with every kind of bad value.
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import type { QueryName } from '#core/contract/parameters.ts'
import { errorOf, openTiny } from './answers.ts'
import { BAD, problem } from './bad-values.ts'
import { DATA_ROUTES, legalQuery, namesOf, pathOf } from './paths.ts'

const { app } = await openTiny()

const request = (address: string) => app.request(address)
const textOf = async (address: string) => (await request(address)).text()

const cases = ROUTES.flatMap(route => namesOf(route).map(name => [route.path, name, route] as const))

test.each(cases)('%s refuses every bad value of %s, and says why', async (_path, name, route) => {
  for (const example of BAD[name]) {
    const response = await request(`${pathOf(route)}?${example.query}`)
    expect([example.query, response.status]).toEqual([example.query, 422])
    expect(await errorOf(response)).toStrictEqual({
      code: 'validation_error',
      message: `invalid query parameters: ${name}`,
      details: [problem(name, example, route.formats)],
    })
  }
})

test.each(ROUTES.filter(route => namesOf(route).length > 0))(
  '$path lists all problems of a request at once, and refuses one bad parameter among good ones',
  async route => {
    for (let i = 0; i < 5; i++) {
      const chosen = namesOf(route).map(name => [name, BAD[name][i % BAD[name].length]!] as const)
      const query = chosen.map(([, { query }]) => query).join('&')
      const response = await request(`${pathOf(route)}?color=red&${query}`)
      expect(response.status).toBe(422)
      const { message, details } = await errorOf(response)
      expect(details).toStrictEqual(chosen.map(([name, example]) => problem(name, example, route.formats)))
      expect(message).toBe(`invalid query parameters: ${namesOf(route).join(', ')}`)
    }
    for (const name of namesOf(route)) {
      const good = legalQuery(route, [name]) || '?'
      const response = await request(`${pathOf(route)}${good}&${BAD[name][0]!.query}`)
      expect(response.status, name).toBe(422)
      const problems = [problem(name, BAD[name][0]!, route.formats)]
      expect((await errorOf(response)).details, name).toStrictEqual(problems)
    }
  },
)

test.each(DATA_ROUTES.map(route => [route.path, route] as const))(
  '%s ignores what resembles no parameter, and those of other routes that are blank, however bad it is',
  async (_path, route) => {
    const names = Object.keys(BAD) as QueryName[] // the keys of the literal above
    const foreign = names.filter(name => !(name in route.query)).map(name => BAD[name][0]!.query)
    const address = `${pathOf(route)}?${[...foreign, 'color=%ff', '__proto__=x', 'a=b=c', '&&='].join('&')}`
    expect(await textOf(address)).toBe(await textOf(pathOf(route)))
  },
)

const near = {
  risk: ['0.01', 'risk_pct'],
  Period: ['weekly', 'period'],
  Format: ['csv', 'format'],
  fromm: ['2024-03-02', 'from'],
  id: ['ash', 'ids'],
  version: ['2025-02-24T00:15:00Z', 'dataset_version'],
} as const
test.each(DATA_ROUTES.map(route => [route.path, route] as const))(
  'a name that is nearly that of a parameter is refused on %s, with the name that was meant',
  async (_path, route) => {
    for (const [name, [value, meant]] of Object.entries(near)) {
      const known = [...Object.keys(route.query), ...Object.keys(route.others.refused), 'dataset_version']
      const response = await request(`${pathOf(route)}?${name}=${value}&utm_source=x`)
      if (!known.includes(meant)) expect(response.status, name).toBe(200)
      else
        expect(await errorOf(response), name).toStrictEqual({
          code: 'validation_error',
          message: `invalid query parameters: ${name}`,
          details: [{ param: name, value, reason: `is unknown; did you mean ${meant}?` }],
        })
    }
  },
)

test('a name that is nearly that of a parameter is refused on the list of versions, and ignored by the probes', async () => {
  expect((await request('/v1/dataset/versions?asof=2025-03-01')).status).toBe(422)
  expect((await request('/v1/dataset/versions?from=2025-03-01')).status).toBe(422)
  expect((await request('/healthz?format=csv&risk=1')).status).toBe(200)
})

test('a name that is nearly that of a parameter is listed after the other problems of the request, in one refusal', async () => {
  const response = await request('/v1/strategies/ash/returns?risk=1&period=x&Format=csv')
  const { details, message } = await errorOf(response)
  expect(details).toMatchObject([{ param: 'period' }, { param: 'Format' }, { param: 'risk' }])
  expect(message).toBe('invalid query parameters: period, Format, risk')
})

test.each([
  ['/v1/strategies/ash/curve?from=2024-03-02', 'risk_pct, format, dataset_version'],
  ['/v1/strategies/ash/curve?period=weekly', 'risk_pct, format, dataset_version'],
  ['/v1/export?ids=ash,yew', 'period, risk_pct, from, to, format, dataset_version'],
  ['/v1/summary?risk_pct=0.01', 'dataset_version'],
  ['/v1/summary?format=csv', 'dataset_version'],
  ['/v1/strategies/ash/stats?as_of=2025-03-01', 'risk_pct, dataset_version'],
])(
  'a parameter of another route is refused if its value would be without effect: %s',
  async (address, own) => {
    const [, param = '', value = ''] = /\?(\w+)=(.*)$/.exec(address) ?? []
    expect((await errorOf(await request(address))).details).toStrictEqual([
      { param, value, reason: `is no parameter of this route, which takes ${own}` },
    ])
  },
)

test.each([
  ['/v1/summary', 'format=json&period=daily&ids=&risk_pct='],
  ['/v1/strategies/ash/curve', 'period=daily&from='],
  ['/v1/correlation', 'risk_pct=0.05'],
  ['/v1/strategies/ash/trades', 'risk_pct=0.05'],
  ['/v1/benchmark', 'risk_pct=0.05'],
  ['/v1/dataset', 'risk_pct=0.05'],
])('a parameter of another route that would change nothing is ignored: %s?%s', async (path, query) => {
  expect(await textOf(`${path}?${query}`)).toBe(await textOf(path))
})

const RETURNS = '/v1/strategies/ash/returns'

test('a range that ends before it begins is refused', async () => {
  const response = await request(`${RETURNS}?from=2024-03-02&to=2024-03-01`)
  expect(response.status).toBe(422)
  expect((await errorOf(response)).details).toStrictEqual([
    { param: 'from', value: '2024-03-02', reason: 'must not be later than to (2024-03-01)' },
  ])
})

test('a wrong range is refused together with everything else that is wrong', async () => {
  const response = await request(`${RETURNS}?from=2024-03-02&to=2024-03-01&risk_pct=0&period=x`)
  const { details } = await errorOf(response)
  expect(details).toMatchObject([{ param: 'period' }, { param: 'risk_pct' }, { param: 'from' }])
})

test('a very long value of a parameter is not repeated whole in its refusal', async () => {
  for (const [path, name, route] of cases) {
    const response = await request(`${pathOf(route)}?${name}=${'%2C'.repeat(2000)}`)
    expect(response.status, path).toBe(422)
    expect((await response.text()).length, `${path} ${name}`).toBeLessThan(2000)
  }
})
