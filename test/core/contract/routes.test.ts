import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { artifactKey } from '#core/contract/artifacts.ts'
import { FORMATS } from '#core/contract/parameters.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES, routeOf } from '#core/dataset/resources/routes.ts'

const VERSION = '2026-11-21T00:15:00Z'
const IDS = ['alder', 'birch']

const POINTS = DATASET_ROUTES.flatMap(route => canonicalPoints(route, IDS).map(params => ({ route, params })))

test('the route table has every path and parameter of the specification, and formats beside it', () => {
  expect(ROUTES.map(({ path, query }) => [path, ...Object.keys(query)])).toEqual([
    ['/healthz'],
    ['/readyz'],
    ['/version'],
    ['/v1/dataset/versions', 'as_of', 'format'],
    ['/v1/strategies', 'format'],
    ['/v1/summary'],
    ['/v1/dataset'],
    ['/v1/correlation', 'period', 'ids', 'format'],
    ['/v1/export', 'period', 'risk_pct', 'from', 'to', 'format'],
    ['/v1/benchmark', 'format'],
    ['/v1/strategies/{sid}'],
    ['/v1/strategies/{sid}/stats', 'risk_pct'],
    ['/v1/strategies/{sid}/returns', 'period', 'risk_pct', 'from', 'to', 'format'],
    ['/v1/strategies/{sid}/curve', 'risk_pct', 'format'],
    ['/v1/strategies/{sid}/rolling', 'risk_pct', 'format'],
    ['/v1/strategies/{sid}/trades', 'format'],
  ])
})

test('the route table names every route once, and knows it by its name', () => {
  for (const route of DATASET_ROUTES) expect(routeOf(route.id)).toBe(route)
  expect(new Set(ROUTES.map(({ id }) => id)).size).toBe(ROUTES.length)
})

test('a route has the parameter format exactly if it has more than one format', () => {
  for (const { id, query, formats } of ROUTES) {
    expect('format' in query, id).toBe(formats.length > 1)
  }
})

test('the canonical points lie at the keys of the published layout', () => {
  const folder = 'v1/snapshots/20261121T001500Z'
  const series = ['curve', 'returns.daily', 'returns.weekly']
  const ofStrategies = IDS.flatMap(id => [
    `${folder}/strategies/${id}/meta.json`,
    `${folder}/strategies/${id}/stats.json`,
    ...series.flatMap(name => ['json', 'csv'].map(ending => `${folder}/strategies/${id}/${name}.${ending}`)),
    ...FORMATS.map(ending => `${folder}/strategies/${id}/trades.${ending}`),
  ])
  const ofTheBook = [
    'strategies.json',
    'summary.json',
    'dataset.json',
    'benchmark.json',
    'benchmark.csv',
    'correlation.daily.json',
    'correlation.weekly.json',
    ...['daily', 'weekly'].flatMap(period => FORMATS.map(ending => `export.${period}.${ending}`)),
  ].map(name => `${folder}/${name}`)
  const keys = POINTS.map(({ route, params }) => artifactKey(VERSION, route, params))
  expect(keys.toSorted()).toEqual([...ofStrategies, ...ofTheBook].toSorted())
})

test('the canonical points are each one address and one key', () => {
  const paths = POINTS.map(({ route, params }) => canonicalPath(route.id, params))
  const keys = POINTS.map(({ route, params }) => artifactKey(VERSION, route, params))
  expect(new Set(paths).size).toBe(POINTS.length)
  expect(new Set(keys).size).toBe(POINTS.length)
})
