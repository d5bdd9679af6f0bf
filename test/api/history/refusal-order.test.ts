// Strategies that do not exist, and which of its faults a request is refused for.
import { expect, test } from 'vitest'
import { type HistoryRoute, ROUTES } from '#api/history/routes.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { refusalsOf } from '#core/contract/openapi.ts'
import { errorOf, openTiny } from './answers.ts'
import { TOO_LONG } from './kinds.ts'
import { pathOf } from './paths.ts'

const { app } = await openTiny()

const request = (address: string) => app.request(address)

const STRATEGY_ROUTES = ROUTES.filter(({ group }) => group === 'strategy')

/** Names that differ from that of a strategy in a letter or two. */
const NEAREST = new Map([
  ['ash ', 'ash'],
  ['-ash', 'ash'],
])

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

test.each(STRATEGY_ROUTES)(
  '$path answers 404 to any unknown strategy, with the name that was meant',
  async route => {
    for (const [sid, named] of UNKNOWN_SIDS) {
      const response = await request(pathOf(route, sid))
      expect(response.status).toBe(404)
      expect(await errorOf(response)).toStrictEqual({
        code: 'not_found',
        message: `unknown strategy '${named}'`,
        details: NEAREST.has(named)
          ? [{ param: 'sid', value: named, reason: `did you mean '${NEAREST.get(named)}'?` }]
          : null,
      })
    }
    for (const sid of ['%ff', '%', '%E0%A4%A', '%C3%28']) {
      const response = await request(pathOf(route, sid))
      expect(response.status, sid).toBe(404)
      expect((await errorOf(response)).message, sid).toMatch(/^unknown strategy '/)
    }
  },
)

const long = (path: string) => `${path}&x=${TOO_LONG}`
const METHOD = { method: 'POST' }

test.each([
  ['its path', 404, long('/v1/nothing?period=x'), METHOD],
  ['its method', 405, long('/v1/strategies/oak/returns?period=x'), METHOD],
  ['the length of its address', 414, long('/v1/strategies/oak/returns?period=x'), {}],
  ['the strategy in its path', 404, '/v1/strategies/oak/returns?period=x&risk_pct=-1', {}],
  ['its parameters', 422, '/v1/correlation?ids=oak&period=x', {}],
] as const)(
  'a request is refused for the first of its faults, here %s, with %i',
  async (_fault, status, address, init) => {
    expect((await app.request(address, init)).status).toBe(status)
  },
)

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
