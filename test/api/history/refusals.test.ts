// Every parameter of every route with every kind of bad value.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import type { QueryName } from '#core/contract/parameters.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'
import { type App, errorOf } from './answers.ts'
import { BAD, problem } from './bad-values.ts'
import { DATA_ROUTES, legalQuery, namesOf, pathOf } from './paths.ts'

let app: App

beforeAll(async () => {
  app = (await openHistoryApp(inject('tinyStore'))).app
})

const request = (address: string) => app.request(address)
const textOf = async (address: string) => (await request(address)).text()

const cases = ROUTES.flatMap(route => namesOf(route).map(name => [route.path, name, route] as const))

describe.each(cases)('%s refuses a bad %s', (_path, name, route) => {
  test.each(BAD[name].map(example => [JSON.stringify(example.value), example] as const))(
    '%s',
    async (_value, example) => {
      const response = await request(`${pathOf(route)}?${example.query}`)
      expect(response.status).toBe(422)
      expect(await errorOf(response)).toStrictEqual({
        code: 'validation_error',
        message: `invalid query parameters: ${name}`,
        details: [problem(name, example, route.formats)],
      })
    },
  )
})

describe.each(ROUTES.filter(route => namesOf(route).length > 0).map(route => [route.path, route] as const))(
  '%s',
  (_path, route) => {
    test('lists all problems of a request at once', async () => {
      for (let i = 0; i < 5; i++) {
        const chosen = namesOf(route).map(name => [name, BAD[name][i % BAD[name].length]!] as const)
        const query = chosen.map(([, { query }]) => query).join('&')
        const response = await request(`${pathOf(route)}?color=red&${query}`)
        expect(response.status).toBe(422)
        const { message, details } = await errorOf(response)
        expect(details).toStrictEqual(chosen.map(([name, example]) => problem(name, example, route.formats)))
        expect(message).toBe(`invalid query parameters: ${namesOf(route).join(', ')}`)
      }
    })

    test('one bad parameter among good ones is enough', async () => {
      for (const name of namesOf(route)) {
        const good = legalQuery(route, [name]) || '?'
        const response = await request(`${pathOf(route)}${good}&${BAD[name][0]!.query}`)
        expect(response.status, name).toBe(422)
        expect((await errorOf(response)).details, name).toStrictEqual([
          problem(name, BAD[name][0]!, route.formats),
        ])
      }
    })
  },
)

test.each(DATA_ROUTES.map(route => [route.path, route] as const))(
  '%s ignores what it does not know, however bad it is',
  async (_path, route) => {
    const names = Object.keys(BAD) as QueryName[] // the keys of the literal above
    const foreign = names.filter(name => !(name in route.query)).map(name => BAD[name][0]!.query)
    const address = `${pathOf(route)}?${[...foreign, 'color=%ff', '__proto__=x', 'a=b=c', '&&='].join('&')}`
    expect(await textOf(address)).toBe(await textOf(pathOf(route)))
  },
)

describe('a range', () => {
  const RETURNS = '/v1/strategies/ash/returns'

  test('that ends before it begins is refused', async () => {
    const response = await request(`${RETURNS}?from=2024-03-02&to=2024-03-01`)
    expect(response.status).toBe(422)
    expect((await errorOf(response)).details).toStrictEqual([
      { param: 'from', value: '2024-03-02', reason: 'must not be later than to (2024-03-01)' },
    ])
  })

  test('is refused together with everything else that is bad', async () => {
    const response = await request(`${RETURNS}?from=2024-03-02&to=2024-03-01&risk_pct=0&period=x`)
    const { details } = await errorOf(response)
    expect(details).toMatchObject([{ param: 'period' }, { param: 'risk_pct' }, { param: 'from' }])
  })
})

test('a value that is very long is not repeated whole', async () => {
  for (const [path, name, route] of cases) {
    const response = await request(`${pathOf(route)}?${name}=${'%2C'.repeat(2000)}`)
    expect(response.status, path).toBe(422)
    expect((await response.text()).length, `${path} ${name}`).toBeLessThan(2000)
  }
})
