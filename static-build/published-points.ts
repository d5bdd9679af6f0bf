import { TWIN_CODINGS, TWIN_ENDINGS, versionFolder } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { ASSETS } from '#pages/assets.ts'
import { publishedPages } from '#pages/page-routes.ts'
import type { Point } from './render-point.ts'

/** Every point of a snapshot: its canonical answers, its pages and their pictures, and what these load. */
export function publishedPoints({ strategies }: Pick<Snapshot, 'strategies'>): Point[] {
  const ids = strategies.map(({ id }) => id)
  const answers = DATASET_ROUTES.flatMap(route =>
    canonicalPoints(route, ids).map((params): Point => ({ kind: 'answer', id: route.id, params })),
  )
  const pages = publishedPages(ids).map(({ route, sid }): Point => ({ kind: 'page', id: route.id, sid }))
  const pictures = ['', ...ids].map((sid): Point => ({ kind: 'picture', sid }))
  return [...answers, ...pages, ...pictures, ...ASSETS.map(({ name }): Point => ({ kind: 'asset', name }))]
}

/** The strategy that a point is about, or '' if it is about the book: a part of a snapshot has all points of its strategy. */
export function sidOf(point: Point): string {
  if (point.kind === 'asset') return ''
  return point.kind === 'answer' ? point.params.sid : point.sid
}

/** The objects of an artifact: its file, and its twins. */
export const objectsOf = ({ key, bytes, sha256, encodings }: Artifact) => [
  { key, bytes, sha256 },
  ...TWIN_CODINGS.flatMap(coding => {
    const twin = encodings[coding]
    return twin === undefined ? [] : [{ key: key + TWIN_ENDINGS[coding], ...twin }]
  }),
]

export const strategyFolder = (version: string, id: string): string =>
  `${versionFolder(version)}/strategies/${id}`
