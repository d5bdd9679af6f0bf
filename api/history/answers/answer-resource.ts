import type { Artifact } from '#core/contract/manifest.ts'
import { type Params, parseParams, unfitQuery } from '#core/contract/parameters.ts'
import { cacheTag, PIN_PARAMETER, pinnedPath, unpinnedPath } from '#core/contract/pins.ts'
import { type DatasetRoute, findStrategy } from '#core/dataset/resources/resource.ts'
import { canonicalPath } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import type { AnswerHeaders, ReadyAnswer } from '../../service/content-coding.ts'
import { type Exchange, notModified, queryOf } from '../../service/exchange.ts'
import { CACHING } from '../../service/headers.ts'
import { streamBody } from '../../service/stream-body.ts'
import { assertServed, datasetHeaders, type Handler, type HistoryParts, sendReady } from '../exchange.ts'
import { versionInPath } from '../versions/history.ts'
import type { ServedVersion } from '../versions/served-version.ts'
import type { StreamedAnswer } from './computed-answers.ts'

/** An answer, and the canonical path and query that it answers, without a pin. */
type Found = { readonly answer: ReadyAnswer | StreamedAnswer; readonly path: string }

/** A dataset answer of the served version, or of the one that the query names. */
export const latestHandler =
  (route: DatasetRoute): Handler =>
  async (c, parts) => {
    const address = spelledAddress(c)
    // A published address names no version, so nearly every request is answered without parsing its query.
    const pins = c.get('served')?.artifacts.has(address) ? [] : queryOf(c).getAll(PIN_PARAMETER)
    const isPinned = pins.length > 0
    const version = isPinned ? await openPinned(c, parts, pins.join(',')) : assertServed(c, parts)
    const { answer, path } = await find(c, parts, version, route, address, isPinned)
    const twin = { 'content-location': pinnedPath(version.version, path) }
    if (isPinned) return send(c, parts, answer, CACHING.pinned, twin)
    const tag = cacheTag(version.version) // by it a CDN purges the answers of this version
    return send(c, parts, answer, CACHING.dataset, { ...twin, 'cache-tag': tag, xkey: tag })
  }

export const pinnedHandler =
  (route: DatasetRoute): Handler =>
  async (c, parts) => {
    const version = versionInPath(parts.source.history(), c.req.param('version') ?? '')
    const pinned = await openPinned(c, parts, version)
    const address = unpinnedPath(spelledAddress(c)) ?? ''
    const { answer } = await find(c, parts, pinned, route, address, true)
    return send(c, parts, answer, CACHING.pinned)
  }

/** From here on the request is one of this version, also if it ends in an error. */
export async function openPinned(c: Exchange, { pinned }: HistoryParts, version: string) {
  const opened = await pinned.open(version)
  c.set('served', opened)
  return opened
}

/** Path and query as they came, without parsing the address. */
const spelledAddress = ({ req: { url } }: Exchange): string =>
  url.slice(url.indexOf('/', url.indexOf('//') + 2))

/** The published file of an address, as spelled or in its canonical form; computed if there is none or it is lost. */
async function find(
  c: Exchange,
  parts: HistoryParts,
  version: ServedVersion,
  route: DatasetRoute,
  address: string,
  isPinned: boolean,
): Promise<Found> {
  const spelled = version.artifacts.get(address)
  const file = await readPublished(c, parts, spelled)
  if (file !== null) return file
  const params = resolveParams(route, version.snapshot, c.req.param('sid') ?? '', queryOf(c))
  const path = canonicalPath(route.id, params)
  const artifact = version.artifacts.get(path)
  const published = artifact === spelled ? null : await readPublished(c, parts, artifact)
  if (published !== null) return published
  c.set('kind', 'computed')
  const hasDigest = isPinned && artifact === undefined // nginx, which sends published files too, cannot send it
  const acceptEncoding = c.req.header('accept-encoding')
  return {
    answer: await parts.computed.compute(version, route.id, params, acceptEncoding, hasDigest, path),
    path,
  }
}

/** Null if there is no such file, or it is lost. */
export async function readPublished(c: Exchange, { published }: HistoryParts, artifact?: Artifact) {
  const answer = artifact && (await published.read(artifact, c.req.header('accept-encoding')))
  if (artifact === undefined || answer == null) return null
  c.set('kind', 'static')
  return { answer, path: artifact.url }
}

/** Canonical parameters. Refuses in the order of the contract: an unknown strategy, all invalid parameters, an unknown id in `ids`. */
function resolveParams(route: DatasetRoute, snapshot: Snapshot, sid: string, query: URLSearchParams): Params {
  if (route.group === 'strategy') findStrategy(snapshot, sid)
  const { params, problems } = parseParams(route.query, query, route.others)
  if (problems.length > 0) throw unfitQuery(problems)
  for (const id of params.ids ?? []) findStrategy(snapshot, id)
  return { ...params, sid, ids: canonicalIds(snapshot, params.ids) }
}

/** Naming every strategy in catalogue order is the same as naming none. */
function canonicalIds({ strategies }: Snapshot, ids: readonly string[] | null): readonly string[] | null {
  if (ids === null || ids.length !== strategies.length) return ids
  return strategies.every(({ id }, i) => id === ids[i]) ? null : ids
}

/**
 * An answer as it is or, if it is made while it is sent, in a stream; or 304. The headers of a stream wait for its first bytes: what
 * cannot be made is refused.
 */
async function send(
  c: Exchange,
  parts: HistoryParts,
  answer: Found['answer'],
  caching: string,
  more: AnswerHeaders = {},
): Promise<Response> {
  if ('bytes' in answer) return sendReady(c, answer, caching, more)
  const headers = () => datasetHeaders(c, caching, more)
  const known = notModified(c, answer.etag, headers())
  if (known !== null) return known
  const { headers: own, blocks } = answer.begin(parts.clientOf(c))
  if (c.req.method === 'HEAD') return new Response(null, { headers: { ...headers(), ...own } })
  const { stream, sent } = await streamBody(blocks, {
    limitMs: answer.readingMs,
    onError: error => parts.onError(error, c.get('requestId')),
    cutOff: connectionCutter(c),
  })
  c.set('sent', sent)
  return new Response(stream, { headers: { ...headers(), ...own } })
}

/** Resets the connection in the middle of an answer: HTTP/1.0 takes any other end for that of the answer. Null without one. */
function connectionCutter(c: Exchange): (() => void) | null {
  const outgoing = c.env?.outgoing
  if (outgoing === undefined) return null
  // A pipelined answer that waits for its turn has no socket yet: it ends the connection when it gets one.
  return () => void (outgoing.socket?.resetAndDestroy() ?? outgoing.destroy())
}
