import { toIsoDate } from '#core/calendar.ts'
import { artifactKey, isBinary, TWIN_ENDINGS, type TwinCoding } from '#core/contract/artifacts.ts'
import type { Effort } from '#core/contract/effort.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import type { Params } from '#core/contract/parameters.ts'
import { type RenderedAnswer, renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPath, routeOf } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { immutableHeaders } from '#storage/immutable-headers.ts'
import type { ObjectHeaders } from '#storage/object-store.ts'
import { compressTwins } from './compress.ts'

/** A canonical point: a resource and the parameters it is published at. */
export type Point = { readonly id: ResourceId; readonly params: Params }

/** A published file, before it is. */
export type PublishedFile = {
  readonly key: string
  readonly bytes: Uint8Array
  readonly headers: ObjectHeaders
}

/** The files of a canonical point, plain and twins, and its line of the manifest. */
export type RenderedPoint = { readonly artifact: Artifact; readonly files: readonly PublishedFile[] }

/** Renders one canonical answer, and compresses it where it is text. */
export function renderPoint(snapshot: Snapshot, point: Point, effort: Effort): RenderedPoint {
  const rendered = renderAnswer(point.id, snapshot, point.params)
  const key = artifactKey(snapshot.dataset.version, routeOf(point.id), point.params)
  const { 'content-type': mediaType = '', ...headers } = rendered.headers
  const { format } = point.params
  const twins = isBinary(format) ? [] : compressTwins(rendered.bytes, format, effort)
  const artifact = {
    url: canonicalPath(point.id, point.params),
    key,
    media_type: mediaType,
    headers,
    ...describe(rendered.bytes),
    ...extentOf(rendered),
    encodings: Object.fromEntries(twins.map(({ coding, bytes }) => [coding, describe(bytes)])),
  }
  const files = [
    { key, bytes: rendered.bytes, headers: storedHeaders(mediaType) },
    ...twins.map(({ coding, bytes }) => ({
      key: `${key}${TWIN_ENDINGS[coding]}`,
      bytes,
      headers: storedHeaders(mediaType, coding),
    })),
  ]
  return { artifact, files }
}

const storedHeaders = (mediaType: string, coding?: TwinCoding): ObjectHeaders => ({
  ...immutableHeaders(mediaType),
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
