// Addresses to try, made from the route table: a new endpoint is in every loop before anyone writes a test for it.

import { type HistoryRoute, ROUTES } from '#api/history/routes.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import type { Format, QueryName } from '#core/contract/parameters.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'

/** The strategies of the tiny book, in catalogue order. */
export const SIDS = ['ash', 'beech', 'elm', 'yew'] as const

/** A concrete path of a route, by default that of the strategy that has everything. */
export const pathOf = (route: HistoryRoute, sid: string = SIDS[0]): string => route.path.replace('{sid}', sid)

/** The paths of a route, one for each strategy. */
export const pathsOf = (route: HistoryRoute): string[] =>
  route.group === 'strategy' ? SIDS.map(sid => pathOf(route, sid)) : [pathOf(route)]

export const DATA_ROUTES = DATASET_ROUTES

/** The parameters of a route that are parameters of the dataset. */
export const namesOf = (route: HistoryRoute): QueryName[] =>
  Object.keys(route.query).filter((name): name is QueryName => name in LEGAL)

/** The pinned twin of a route, of the version of the tiny book. */
const PINNED = '/v1/snapshots/20250224T001500Z'
const pinnedPathOf = (route: HistoryRoute): string => pathOf(route).replace('/v1', PINNED)

const VARIABLES = {
  ...{ version: '20250224T001500Z', seq: '0000000001', sha256: 'f'.repeat(64) },
  ...{ n: '000000001', date: '2025-02-23', key: 'f'.repeat(16) },
}

/** Every path that answers: the routes of the table, their twins, the objects of the store, and those beside them. */
export const ALL_PATHS: readonly string[] = [
  ...ROUTES.map(route => pathOf(route)),
  ...DATA_ROUTES.map(pinnedPathOf),
  ...FILE_ROUTES.map(file =>
    file.path.replace(/\{(\w+)\}/, (_, name: keyof typeof VARIABLES) => VARIABLES[name]),
  ),
  '/',
  '/openapi.json',
  '/llms.txt',
  '/docs',
  '/docs/reference',
  '/docs/guides/first-chart',
]

/** A legal value of every parameter that is not its default. */
export const LEGAL: { readonly [Name in QueryName]: string } = {
  period: 'weekly',
  risk_pct: '0.013',
  from: '2024-03-02',
  to: '2024-11-30',
  ids: 'yew,ash',
  format: 'csv',
}

/** `?a=1&b=2` of the parameters that a route knows, without those left out. */
export function legalQuery(route: HistoryRoute, leaveOut: readonly QueryName[] = []): string {
  const pairs = namesOf(route)
    .filter(name => !leaveOut.includes(name))
    .map(name => `${name}=${LEGAL[name]}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Paths and queries of a route whose answers are JSON: plain, each parameter alone, and all together. */
export const jsonAddressesOf = (route: HistoryRoute): string[] => {
  const alone = namesOf(route)
    .filter(name => name !== 'format')
    .map(name => `?${name}=${LEGAL[name]}`)
  const queries = new Set(['', ...alone, legalQuery(route, ['format'])])
  return pathsOf(route).flatMap(path => [...queries].map(query => path + query))
}

/** One address of each kind of answer that a route has, CSV among them. */
export const addressesOf = (route: HistoryRoute): string[] => [
  ...jsonAddressesOf(route),
  ...((route.formats as readonly Format[]).includes('csv')
    ? [`${pathOf(route)}?format=csv`, `${pathOf(route)}${legalQuery(route)}`]
    : []),
]
