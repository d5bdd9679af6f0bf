// What may be fired LIVE: nothing that nobody can have meant.
import { expect, test } from 'vitest'
import { clientRequest } from '#api/operator/routes/clients.ts'
import { webhookRequest } from '#api/operator/routes/webhooks.ts'
import { ApiError } from '#core/contract/errors.ts'
import { parseFireRequest } from '#core/contract/fire-request.ts'
import { parseRequest } from '#core/contract/parse-request.ts'

const NOW_MS = Date.parse('2026-11-21T00:00:05Z')

const body = (more: Record<string, unknown> = {}) => ({
  ...{ signal_id: 'a', alias: 'alder', action: 'long', signal_price: 50_000, stop: 49_000 },
  ...{ base_risk_pct: 0.02, timestamp: '2026-11-21T00:00:00Z' },
  ...more,
})

const parse = (given: unknown, baseRisk?: number) => {
  const served = { aliases: () => new Set(['alder']), baseRiskOf: () => baseRisk }
  return parseFireRequest(given, 'jane', served, NOW_MS).content
}

const problemsOf = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error.details
    throw error
  }
  return []
}

const refusalsOf = (more: Record<string, unknown>, baseRisk?: number) =>
  problemsOf(() => parse(body(more), baseRisk))

test('a fire with an unknown field is refused by the name of the field', () => {
  expect(refusalsOf({ mdoe: 'DRY_RUN' })).toEqual([
    { param: 'mdoe', value: '"DRY_RUN"', reason: expect.stringContaining('unknown field') },
  ])
  expect(refusalsOf({ constructor: 1, stop: 'x' })).toMatchObject([
    { param: 'stop' },
    { param: 'constructor' },
  ])
})

test('a fire is no test: is_test may be false, and true is refused with where tests are fired', () => {
  expect(parse(body({ is_test: false })).is_test).toBe(false)
  expect(refusalsOf({ is_test: true })).toEqual([
    { param: 'is_test', value: 'true', reason: expect.stringContaining('highwater ops test') },
  ])
})

test('a fire has a leverage of 15 at the most', () => {
  expect(parse(body({ stop: 40_000, base_risk_pct: 1 })).implied_leverage).toBe(5)
  expect(parse(body({ signal_price: 48, stop: 45, base_risk_pct: 0.9375 })).implied_leverage).toBe(15)
  expect(refusalsOf({ signal_price: 48, stop: 45, base_risk_pct: 0.94 })).toEqual([
    { param: 'stop', value: '45', reason: expect.stringContaining('at most 15') },
  ])
  expect(refusalsOf({ implied_leverage: 0 })).toMatchObject([{ param: 'implied_leverage' }])
})

test('a fire has the base risk of the catalogue, and another one is refused with both numbers', () => {
  expect(parse(body({ base_risk_pct: 0.1 * 0.2 }), 0.02).implied_leverage).toBe(1)
  const reason = expect.stringContaining('expected that of the catalogue, 0.02, got 0.0201')
  expect(refusalsOf({ base_risk_pct: 0.0201 }, 0.02)).toMatchObject([{ param: 'base_risk_pct', reason }])
})

test('a fire says which operator fired it, and of a flat that an operator did, whatever its sender writes', () => {
  expect(parse(body()).by).toBe('operator:jane')
  expect(parse(body()).why).toBeUndefined()
  expect(parse(body({ action: 'flat', base_risk_pct: 0 }))).toMatchObject({ why: 'operator' })
  expect(refusalsOf({ by: 'strategy', why: 'stop' })).toMatchObject([{ param: 'by' }, { param: 'why' }])
})

test('a fire may be dated two seconds ahead of the clock, and not three', () => {
  expect(parse(body({ timestamp: '2026-11-21T00:00:07Z' })).timestamp).toBe('2026-11-21T00:00:07Z')
  for (const more of [{}, { action: 'flat', base_risk_pct: 0 }])
    expect(refusalsOf({ ...more, timestamp: '2026-11-21T00:00:08Z' })).toMatchObject([{ param: 'timestamp' }])
})

test.each([1e-10, 1e13, 0, -1, Number.POSITIVE_INFINITY])('a fire at a price of %d is refused', price => {
  expect(refusalsOf({ signal_price: price })).toMatchObject([{ param: 'signal_price', value: String(price) }])
})

test('a fire may have prices from 1e-9 to 1e12', () => {
  expect(parse(body({ signal_price: 1e12, stop: 5e11 })).signal_price).toBe(1e12)
  expect(parse(body({ signal_price: 2e-9, stop: 1e-9 })).stop).toBe(1e-9)
})

test('a request of the operator with an unknown field is refused by its name, and what may be a secret is not repeated', () => {
  expect(problemsOf(() => parseRequest(clientRequest, { id: 'acme', alias: ['alder'] }))).toMatchObject([
    { param: 'alias', reason: expect.stringContaining('unknown field') },
  ])
  const webhook = { url: 'https://example.org', secert: 'whsec_x' }
  expect(problemsOf(() => parseRequest(webhookRequest, webhook))).toMatchObject([
    { param: 'secert', value: '(not repeated)' },
  ])
})
