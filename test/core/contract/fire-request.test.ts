// What may be fired LIVE: nothing that nobody can have meant.
import { expect, test } from 'vitest'
import { clientRequest } from '#api/operator/routes/clients.ts'
import { webhookRequest } from '#api/operator/routes/webhooks.ts'
import { ApiError } from '#core/contract/errors.ts'
import { parseFireRequest } from '#core/contract/fire-request.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { casesOf } from '#test/support/cases-of.ts'

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

const FLAT = { action: 'flat', base_risk_pct: 0 }
const LATE = { timestamp: '2026-11-21T00:00:08Z' }
const LEVER = { signal_price: 48, stop: 45 }
const OWN_RISK = expect.stringContaining('expected that of the catalogue, 0.02, got 0.0201')

test.each(casesOf<[string, Record<string, unknown>, object, number?]>`
the statement that it is no test -> ${{ is_test: false }} -> ${{ is_test: false }}
a leverage that follows from its stop -> ${{ stop: 40_000, base_risk_pct: 1 }} -> ${{ implied_leverage: 5 }}
a leverage of 15 -> ${{ ...LEVER, base_risk_pct: 0.9375 }} -> ${{ implied_leverage: 15 }}
the base risk of the catalogue, but for its last bits -> ${{ base_risk_pct: 0.1 * 0.2 }} -> ${{ implied_leverage: 1 }} -> ${0.02}
the operator who fired it, and no reason -> ${{}} -> ${{ by: 'operator:jane', why: undefined }}
as a flat the reason that an operator did it -> ${FLAT} -> ${{ by: 'operator:jane', why: 'operator' }}
a time two seconds ahead of the clock -> ${{ timestamp: '2026-11-21T00:00:07Z' }} -> ${{ timestamp: '2026-11-21T00:00:07Z' }}
prices up to 1e12 -> ${{ signal_price: 1e12, stop: 5e11 }} -> ${{ signal_price: 1e12 }}
prices down to 1e-9 -> ${{ signal_price: 2e-9, stop: 1e-9 }} -> ${{ stop: 1e-9 }}`)(
  'a fire is accepted, and has %s',
  (_, more, content, baseRisk) => {
    const parsed = parse(body(more), baseRisk)
    expect({ why: undefined, ...parsed }).toMatchObject(content)
  },
)

test.each(casesOf<[string, Record<string, unknown>, object[], number?]>`
an unknown field, by its name -> ${{ mdoe: 'DRY_RUN' }} -> ${[{ param: 'mdoe', value: '"DRY_RUN"', reason: expect.stringContaining('unknown field') }]}
a field of every object beside a wrong one -> ${{ constructor: 1, stop: 'x' }} -> ${[{ param: 'stop' }, { param: 'constructor' }]}
a test, with where tests are fired -> ${{ is_test: true }} -> ${[{ param: 'is_test', value: 'true', reason: expect.stringContaining('highwater ops test') }]}
a leverage above 15 -> ${{ ...LEVER, base_risk_pct: 0.94 }} -> ${[{ param: 'stop', value: '45', reason: expect.stringContaining('at most 15') }]}
a leverage of 0 -> ${{ implied_leverage: 0 }} -> ${[{ param: 'implied_leverage' }]}
another base risk than that of the catalogue, with both numbers -> ${{ base_risk_pct: 0.0201 }} -> ${[{ param: 'base_risk_pct', reason: OWN_RISK }]} -> ${0.02}
a sender and a reason of its own -> ${{ by: 'strategy', why: 'stop' }} -> ${[{ param: 'by' }, { param: 'why' }]}
a time three seconds ahead of the clock -> ${LATE} -> ${[{ param: 'timestamp' }]}
a time three seconds ahead of the clock as a flat -> ${{ ...FLAT, ...LATE }} -> ${[{ param: 'timestamp' }]}`)(
  'a fire is refused for %s',
  (_, more, details, baseRisk) => {
    expect(refusalsOf(more, baseRisk)).toMatchObject(details)
  },
)

test.each([1e-10, 1e13, 0, -1, Number.POSITIVE_INFINITY])('a fire at a price of %d is refused', price => {
  expect(refusalsOf({ signal_price: price })).toMatchObject([{ param: 'signal_price', value: String(price) }])
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
