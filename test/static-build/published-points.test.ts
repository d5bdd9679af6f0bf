import { expect, test } from 'vitest'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { publishedPoints } from '#static-build/published-points.ts'
import { renderPoint } from '#static-build/render-point.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

const returns = (days: number) => Array.from({ length: days }, (_, i) => Math.sin(i) / 100)

const SNAPSHOT = handSnapshot([
  { id: 'elm', returns: returns(30) },
  { id: 'oak', returns: returns(400) },
  { id: 'ash', returns: returns(400) },
])

const POINTS = publishedPoints(SNAPSHOT)
const ANSWERS = POINTS.filter(point => point.kind === 'answer')

test('every canonical point is published, once', () => {
  const paths = DATASET_ROUTES.flatMap(route =>
    canonicalPoints(route, ['elm', 'oak', 'ash']).map(params => canonicalPath(route.id, params)),
  )
  expect(ANSWERS.map(({ id, params }) => canonicalPath(id, params)).sort()).toEqual(paths.sort())
})

test('the largest answers come first: none is followed by one that is three times as large', () => {
  const sizes = ANSWERS.filter(({ params }) => params.format === 'json').map(point => ({
    path: canonicalPath(point.id, point.params),
    bytes: renderPoint(SNAPSHOT, point, 'quick').artifact.bytes,
  }))
  const grown = sizes.flatMap(({ path, bytes }, i) =>
    sizes
      .slice(i + 1)
      .filter(later => later.bytes > 3 * bytes && later.bytes > 10_000)
      .map(later => `${later.path} (${later.bytes}) after ${path} (${bytes})`),
  )
  expect(grown).toEqual([])
  expect(sizes[0]?.path).toBe('/v1/export')
  expect(sizes.length).toBeGreaterThan(20)
})

test('every page is published, once for each strategy if it is about one, and so are their scripts and style', () => {
  const files = POINTS.filter(({ kind }) => kind !== 'answer').map(point => {
    const { key } = renderPoint(SNAPSHOT, point, 'quick').artifact
    return key.split('/').slice(3).join('/')
  })
  const sheets = ['elm', 'oak', 'ash'].map(id => `strategies/${id}/sheet.html`)
  expect(files).toEqual(expect.arrayContaining(['index.html', 'explore.html', 'versions.html', ...sheets]))
  expect(files).toEqual(expect.arrayContaining(['assets/page.js', 'assets/style.css']))
  expect(new Set(files).size).toBe(files.length)
})
