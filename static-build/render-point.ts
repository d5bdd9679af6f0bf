import { toIsoDate } from '#core/calendar.ts'
import { artifactKey, TWIN_ENDINGS, type TwinCoding } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import type { Params } from '#core/contract/parameters.ts'
import { canonicalPath, routeOf } from '#core/contract/routes.ts'
import { type RenderedAnswer, renderAnswer } from '#core/resources/render-answer.ts'
import type { ResourceId } from '#core/resources/resources.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectHeaders, ObjectStore } from '#storage/object-store.ts'
import { writeOnce } from '#storage/write-once.ts'
import { compressTwins } from './compress.ts'

/** A canonical point: a resource and the parameters it is published at. */
export type Point = { readonly id: ResourceId; readonly params: Params }

/** A pinned file never changes, so caches may keep it for a year, the longest that they honour. */
const FOR_EVER = 'max-age=31536000, immutable'

/** Renders one canonical answer, writes it and its twins, and returns its line of the manifest. */
export async function renderPoint(store: ObjectStore, snapshot: Snapshot, point: Point): Promise<Artifact> {
  const rendered = renderAnswer(point.id, snapshot, point.params)
  const key = artifactKey(snapshot.dataset.version, routeOf(point.id), point.params)
  const { 'content-type': mediaType = '', ...headers } = rendered.headers
  const twins = compressTwins(rendered.bytes)
  await writeOnce(store, key, rendered.bytes, storedHeaders(mediaType))
  await writeOnce(store, `${key}${TWIN_ENDINGS.br}`, twins.br, storedHeaders(mediaType, 'br'))
  await writeOnce(store, `${key}${TWIN_ENDINGS.gzip}`, twins.gzip, storedHeaders(mediaType, 'gzip'))
  return {
    url: canonicalPath(point.id, point.params),
    key,
    media_type: mediaType,
    headers,
    ...describe(rendered.bytes),
    ...extentOf(rendered),
    encodings: { br: describe(twins.br), gzip: describe(twins.gzip) },
  }
}

const storedHeaders = (mediaType: string, coding?: TwinCoding): ObjectHeaders => ({
  content_type: mediaType,
  cache_control: FOR_EVER,
  ...(coding === undefined ? {} : { content_encoding: coding }),
})

const describe = (bytes: Uint8Array) => ({ bytes: bytes.length, sha256: sha256(bytes) })

function extentOf({ answer: { table } }: RenderedAnswer): Pick<Artifact, 'rows' | 'first' | 'last'> {
  if (table === undefined) return { rows: null, first: null, last: null }
  const { extent } = table
  return {
    rows: table.rows,
    first: extent === undefined ? null : toIsoDate(extent.first),
    last: extent === undefined ? null : toIsoDate(extent.last),
  }
}
