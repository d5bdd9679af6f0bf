// Addresses of data answers, spelled in the many ways that mean the same.
import fc from 'fast-check'
import { DEFAULT_PARAMS, type Params, type QueryName } from '#core/contract/parameters.ts'
import { isPinnable } from '#core/contract/pins.ts'
import type { Route } from '#core/contract/route.ts'
import { canonicalPath, ROUTES } from '#core/contract/routes.ts'

export const DATA_ROUTES = ROUTES.filter(isPinnable)

const aSid = fc.constantFrom('alder', 'birch-2', 'x')
const aDate = fc.integer({ min: 15_000, max: 22_000 })
const aRisk = fc.oneof(
  fc.constantFrom(0.02, 0.1, 0.5, 1, 2, 0.000001),
  fc.integer({ min: 1, max: 99_999 }).map(units => units / 100_000),
)

const paramsOf = (route: Route): fc.Arbitrary<Params> =>
  fc
    .record({
      period: fc.constantFrom('daily', 'weekly'),
      risk_pct: fc.option(aRisk),
      from: fc.option(aDate),
      days: fc.option(fc.nat(500)),
      ids: fc.option(fc.uniqueArray(aSid, { minLength: 1 })),
      format: fc.constantFrom(...route.formats),
      sid: aSid,
    })
    .map(({ days, ...given }) => {
      const all: Params = { ...given, to: days === null ? null : (given.from ?? 15_000) + days }
      const known = Object.entries(all).filter(
        ([name]) => name === 'sid' || route.query.includes(name as QueryName),
      )
      return {
        ...DEFAULT_PARAMS,
        ...Object.fromEntries(known),
        sid: route.kind === 'strategy' ? given.sid : '',
      }
    })

/** What a client does to a canonical pair without changing what it means. */
const respell = (pair: string): fc.Arbitrary<string[]> => {
  const [name = '', value = ''] = pair.split('=')
  if (name === 'ids') return idSpellings(value.split(','))
  if (name === 'risk_pct') return riskSpellings(value).map(text => [`risk_pct=${text}`])
  return fc.constant([pair])
}

const idSpellings = (ids: readonly string[]): fc.Arbitrary<string[]> =>
  fc.constantFrom(
    [`ids=${ids.join(',')}`],
    [`ids=${[...ids, ids[0]].join(',')}`],
    [`ids=${[ids[0], ...ids].join(',')}`],
    [`ids=${ids.join(',%20')}`],
    [`ids=+${ids.join('+,')}+`],
    ids.map(id => `ids=${id}`),
    [`ids=${ids.join('%2c')}`],
  )

const riskSpellings = (text: string): fc.Arbitrary<string> => {
  const value = Number(text)
  const exponential = value < 1 ? [value.toExponential(), value.toExponential().replace('e', 'E')] : []
  const zeros = text.includes('.') ? [`${text}00`, `0${text}0`] : [`${text}.0`, `${text}.000`]
  return fc.constantFrom(text, `00${text}`, ...zeros, ...exponential)
}

/** Some letters of an address as escapes; those of the path's own words too. */
const escapeSome = (text: string): fc.Arbitrary<string> =>
  fc
    .infiniteStream(fc.nat(9))
    .map(dice =>
      (text.match(/%..|./g) ?? [])
        .map(c => (/^[a-z0-9_.-]$/.test(c) && dice.next().value === 0 ? percent(c) : c))
        .join(''),
    )

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16)}`

const UNKNOWN = ['utm_source=x', 'formats=csv', 'Period=weekly', 'risk=0.1', '', 'x', 'a=%26format=csv']

/** An address, and what the service itself calls it. */
export const anAddress: fc.Arbitrary<{ canonical: string; spelled: string }> = fc
  .constantFrom(...DATA_ROUTES)
  .chain(route =>
    paramsOf(route).map(params => ({ route, params, canonical: canonicalPath(route.id, params) })),
  )
  .chain(({ route, params, canonical }) => {
    const [path = '', query = ''] = canonical.split('?')
    const pairs = query === '' ? [] : query.split('&')
    const defaults = (['period', 'format'] as const)
      .filter(name => route.query.includes(name) && params[name] === DEFAULT_PARAMS[name])
      .map(name => `${name}=${params[name]}`)
    return fc
      .record({
        known: fc.tuple(...pairs.map(respell)),
        explicit: fc.subarray(defaults),
        unknown: fc.subarray(UNKNOWN),
        order: fc.infiniteStream(fc.nat(1000)),
      })
      .chain(({ known, explicit, unknown, order }) => {
        const groups = [...known, ...explicit.map(pair => [pair]), ...unknown.map(pair => [pair])]
        const shuffled = groups
          .map(group => ({ group, at: order.next().value ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .flatMap(({ group }) => group)
        const bare = `${path}${shuffled.length === 0 ? '' : '?'}${shuffled.join('&')}`
        return fc.oneof(fc.constant(bare), escapeSome(bare)).map(spelled => ({ canonical, spelled }))
      })
  })
