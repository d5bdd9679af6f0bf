import fc from 'fast-check'
import { expect, test } from 'vitest'
import { meantBy, nearestTo } from '#core/contract/near-miss.ts'
import {
  canonicalUrl,
  FORMATS,
  parseParams,
  pickParameters,
  type QueryName,
} from '#core/contract/parameters.ts'
import { forAll } from '#test/support/for-all.ts'

const ALL: readonly QueryName[] = ['period', 'risk_pct', 'from', 'to', 'ids', 'format']

const PARAMETERS = pickParameters(ALL, FORMATS)

const parse = (query: string) => parseParams(PARAMETERS, new URLSearchParams(query))
const canonical = (query: string): string =>
  canonicalUrl('', PARAMETERS, parse(query).params).replace('?', '')

test('a canonical query is a fixed point: canonical in, the same out', () => {
  const query = fc.record({
    period: fc.constantFrom('daily', 'weekly'),
    risk_pct: fc.double({ min: 1e-12, max: 1e12, noNaN: true }).map(String),
    from: fc.integer({ min: 0, max: 30_000 }).map(day => new Date(day * 864e5).toISOString().slice(0, 10)),
    ids: fc.array(fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}$/), { minLength: 1 }).map(ids => ids.join()),
  })
  forAll(query, fields => {
    const once = canonical(
      new URLSearchParams(fields).toString().replaceAll('%2B', '+').replaceAll('e+', 'e'),
    )
    expect(canonical(once)).toBe(once)
  })
})

test('a query of thousands of nearly known names has a few of them listed, quickly and in any order', () => {
  const names = Array.from({ length: 3000 }, (_, i) => `risk${i}=1&risk${i}=2`)
  const { problems } = parse(names.join('&'))
  expect(problems).toHaveLength(8)
  expect(
    parse(names.toReversed().join('&').replaceAll('=1', '=0')).problems.map(({ param }) => param),
  ).toEqual(problems.map(({ param }) => param))
  expect(problems[0]).toMatchObject({ param: 'risk0', value: '1,2' })
})

test('no text makes the parser of parameters throw, and what it accepts is finite and positive', () => {
  forAll(fc.constantFrom(...ALL), fc.array(fc.string(), { maxLength: 3 }), (name, values) => {
    const { params, problems } = parseParams(
      PARAMETERS,
      new URLSearchParams(values.map((value): [string, string] => [name, value])),
    )
    expect(problems.length).toBeLessThanOrEqual(1)
    if (params.risk_pct !== null) expect(params.risk_pct > 0 && Number.isFinite(params.risk_pct)).toBe(true)
  })
})

const NAMES = ['period', 'risk_pct', 'from', 'to', 'ids', 'format', 'dataset_version', 'as_of']

test.each([
  ['risk_pct', 'risk riskpct risk-pct riskPct RISK_PCT risk_prc risk_percent rsk_pct amp;risk_pct'],
  ['period', 'Period PERIOD periods peroid perid period_type frequency interval'],
  ['format', 'Format formt fromat form formats format[] fmt'],
  ['from', 'From fromm frm from_date start start_date date_from since'],
  ['to', 'To TO to[] end end_date until'],
  ['ids', 'id IDs ids[] ids[0] strategies'],
  ['dataset_version', 'version datasetVersion dataset data_set_version dataset_verson'],
  ['as_of', 'asof asOf as-of'],
])('each usual misspelling of %s is taken for it', (parameter, names) => {
  for (const name of [...names.split(' '), ` ${parameter}`])
    expect(meantBy(name, NAMES), name).toBe(parameter)
})

test('the parameter of the same letters is meant of two, wherever it stands in the list', () => {
  expect(meantBy('Form', ['format', 'form'])).toBe('form')
})

test('a name that resembles no parameter is taken for none', () => {
  const short = '_ _ga _ts t v V 1 ts cb utm_source UTM_format utm_from gclid fbclid'
  const long = 'cachebuster nocache rnd time hash key api_key token lang page limit offset'
  const other =
    'sort order fields callback pretty user source ref sid cid color x-id é % client_version tool two toto'
  const odd = ['', 'x'.repeat(5000), `risk${'x'.repeat(5000)}`, '__proto__', 'constructor']
  for (const name of [...`${short} ${long} ${other}`.split(' '), ...odd])
    expect(meantBy(name, NAMES), name).toBeNull()
})

test('a single wrong, missing or additional letter in a name of three letters or more is found', () => {
  const named = NAMES.filter(name => name.length > 2)
  const slip = fc.record({
    name: fc.constantFrom(...named),
    at: fc.nat(),
    letter: fc.constantFrom('q', 'z', ''),
  })
  forAll(slip, fc.boolean(), ({ name, at, letter }, isAdded) => {
    const i = at % name.length
    const wrong = name.slice(0, i) + letter + name.slice(isAdded ? i : i + 1)
    if (!NAMES.includes(wrong)) expect(meantBy(wrong, NAMES), wrong).not.toBeNull()
  })
})

test.each([
  ['oka', 'oak'],
  ['aok', 'oak'],
  ['aldre', 'alder'],
  ['brich', 'birch'],
  ['oaks', 'oak'],
  ['xyz', null],
  ['', null],
])('the word nearest to %j is %j', (word, nearest) => {
  expect(nearestTo(word, ['alder', 'birch', 'oak'])).toBe(nearest)
})
