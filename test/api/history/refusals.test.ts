// Every parameter of every route with every kind of bad value.
import { expect, test } from 'vitest'
import { type HistoryRoute, ROUTES } from '#api/history/routes.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { refusalsOf } from '#core/contract/openapi.ts'
import type { QueryName } from '#core/contract/parameters.ts'
import { errorOf, openTiny } from './answers.ts'
import { BAD, problem } from './bad-values.ts'
import { TOO_LONG } from './kinds.ts'
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

const ODD_PAIRS = ['color=%ff', '__proto__=x', 'a=b=c', '&&=', 'utm_source=x', '_=1', 'cachebuster=1', 'v=2']
test.each(ROUTES)(
  '$path ignores what resembles no parameter, and those of other routes that are blank, however bad it is',
  async route => {
    const names = Object.keys(BAD) as QueryName[] // the keys of the literal above
    const foreign = names.filter(name => !(name in route.query)).map(name => BAD[name][0]!.query)
    const address = `${pathOf(route)}?${[...foreign, ...ODD_PAIRS].join('&')}`
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
test.each(DATA_ROUTES)(
  'a name that is nearly that of a parameter is refused on $path, with the name that was meant',
  async route => {
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
])('a parameter of another route is refused if its value would have no effect: %s', async (address, own) => {
  const [, param = '', value = ''] = /\?(\w+)=(.*)$/.exec(address) ?? []
  expect((await errorOf(await request(address))).details).toStrictEqual([
    { param, value, reason: `is no parameter of this route, which takes ${own}` },
  ])
})

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

test('a range that ends before it begins is refused, together with everything else that is wrong', async () => {
  for (const path of ['/v1/strategies/ash/returns', '/v1/export']) {
    const response = await request(`${path}?from=2024-03-02&to=2024-03-01`)
    expect(response.status).toBe(422)
    expect((await errorOf(response)).details).toStrictEqual([
      { param: 'from', value: '2024-03-02', reason: 'must not be later than to (2024-03-01)' },
    ])
    const worse = await request(`${path}?from=2024-03-02&to=2024-03-01&risk_pct=0&period=x`)
    const { details } = await errorOf(worse)
    expect(details).toMatchObject([{ param: 'period' }, { param: 'risk_pct' }, { param: 'from' }])
  }
})

test('a very long value of a parameter is not repeated whole in its refusal', async () => {
  for (const [path, name, route] of cases) {
    const response = await request(`${pathOf(route)}?${name}=${'%2C'.repeat(2000)}`)
    expect(response.status, path).toBe(422)
    expect((await response.text()).length, `${path} ${name}`).toBeLessThan(2000)
  }
})

const STRATEGY_ROUTES = ROUTES.filter(({ group }) => group === 'strategy')

/** Names that differ from `ash` in a letter. */
const NEAR_ASH = ['ash ', '-ash']

const UNKNOWN_SIDS = [
  ['oak', 'oak'],
  ['ASH', 'ASH'],
  ['ash%20', 'ash '],
  ['-ash', '-ash'],
  ['ash,yew', 'ash,yew'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['%7Bsid%7D', '{sid}'],
  ['..%2F..%2Fcurrent.json', '../../current.json'],
  ['%00', '\u0000'],
  ['%F0%9F%8C%B3', '\u{1f333}'],
  ["o'hara", "o'hara"],
  ['%3Cscript%3E', '<script>'],
  ['%2561sh', '%61sh'], // decoded once, and not twice
  ['a'.repeat(65), 'a'.repeat(64)], // longer than any id: not repeated whole
] as const

test.each(STRATEGY_ROUTES)('$path answers 404 to unknown strategies, with the name meant', async route => {
  for (const [sid, named] of UNKNOWN_SIDS) {
    const response = await request(pathOf(route, sid))
    expect(response.status).toBe(404)
    expect(await errorOf(response)).toStrictEqual({
      code: 'not_found',
      message: `unknown strategy '${named}'`,
      details: NEAR_ASH.includes(named)
        ? [{ param: 'sid', value: named, reason: "did you mean 'ash'?" }]
        : null,
    })
  }
  for (const sid of ['%ff', '%', '%E0%A4%A', '%C3%28']) {
    const response = await request(pathOf(route, sid))
    expect(response.status, sid).toBe(404)
    expect((await errorOf(response)).message, sid).toMatch(/^unknown strategy '/)
  }
})

const long = (path: string) => `${path}&x=${TOO_LONG}`
const METHOD = { method: 'POST' }

test.each([
  ['its path', 404, long('/v1/nothing?period=x'), METHOD],
  ['its method', 405, long('/v1/strategies/oak/returns?period=x'), METHOD],
  ['the length of its address', 414, long('/v1/strategies/oak/returns?period=x'), {}],
  ['the strategy in its path', 404, '/v1/strategies/oak/returns?period=x&risk_pct=-1', {}],
  ['its parameters', 422, '/v1/correlation?ids=oak&period=x', {}],
] as const)('a request is refused for its first fault, %s, with %i', async (_, status, address, init) => {
  expect((await app.request(address, init)).status).toBe(status)
})

test('a request is refused for the first unknown of its ids', async () => {
  const response = await request('/v1/correlation?ids=yew,oak&ids=ash,ivy')
  expect(response.status).toBe(404)
  expect((await errorOf(response)).message).toBe("unknown strategy 'oak'")
})

test('an address of 8192 characters is answered, one of 8193 is not', async () => {
  const start = 'http://localhost/v1/summary?x='
  const ofLength = (length: number) => start + 'x'.repeat(length - start.length)
  expect((await request(ofLength(8192))).status).toBe(200)
  const response = await request(ofLength(8193))
  expect(response.status).toBe(414)
  expect((await errorOf(response)).code).toBe('uri_too_long')
})

/** A route that never refuses a parameter, or never has one to refuse, must not promise a 422. */
test('the table promises 422 for answers of the dataset and routes with parameters, and 404 for those that name strategies', () => {
  const promises = (route: HistoryRoute, code: ErrorCode) => refusalsOf(route).includes(code)
  for (const route of ROUTES) {
    const isList = route.id === 'versions' // it knows `as_of`, which names a day, and refuses one before the first
    const refusesNearMisses = route.group !== 'infrastructure' || Object.keys(route.query).length > 0
    expect(promises(route, 'validation_error'), route.id).toBe(refusesNearMisses)
    const names = isList || route.group === 'strategy' || 'ids' in route.query
    expect(promises(route, 'not_found'), route.id).toBe(names)
  }
})

test('the description of an answer has its headers: the address of a redirect, the name of a refused request', async () => {
  const description = await textOf('/openapi.json')
  for (const name of ['Location', 'X-Request-Id']) expect(description).toContain(`"headers":{"${name}":`)
})
