// Which unknown names of a query are taken for a mistake, and which are nobody's business.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { meantBy, nearestTo } from '#core/contract/near-miss.ts'
import { forAll } from '#test/support/for-all.ts'

const ALL = ['period', 'risk_pct', 'from', 'to', 'ids', 'format', 'dataset_version', 'as_of']

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
  for (const name of [...names.split(' '), ` ${parameter}`]) expect(meantBy(name, ALL), name).toBe(parameter)
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
    expect(meantBy(name, ALL), name).toBeNull()
})

test('a single wrong, missing or additional letter in a name of three letters or more is found', () => {
  const named = ALL.filter(name => name.length > 2)
  const slip = fc.record({
    name: fc.constantFrom(...named),
    at: fc.nat(),
    letter: fc.constantFrom('q', 'z', ''),
  })
  forAll(slip, fc.boolean(), ({ name, at, letter }, isAdded) => {
    const i = at % name.length
    const wrong = name.slice(0, i) + letter + name.slice(isAdded ? i : i + 1)
    if (!ALL.includes(wrong)) expect(meantBy(wrong, ALL), wrong).not.toBeNull()
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
