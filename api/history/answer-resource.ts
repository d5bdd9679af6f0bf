import { isDictionary } from '#core/contract/dictionaries.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { PIN_PARAMETER, unpinnedPath } from '#core/contract/pins.ts'
import type { Route } from '#core/contract/route.ts'
import { canonicalPath } from '#core/contract/routes.ts'
import type { ResourceId } from '#core/dataset/resources/resources.ts'
import { CACHING } from '../http/shared-headers.ts'
import { dictionaryHeaders, latestHeaders, pinnedHeaders, twinHeader } from './dataset-headers.ts'
import { type Exchange, type Handler, type HistoryParts, sendReady } from './exchange.ts'
import { versionInPath } from './history.ts'
import type { ReadyAnswer, StreamedAnswer } from './ready-answer.ts'
import { resolveRequest } from './resolve-request.ts'
import { sendStreamed } from './send-streamed.ts'
import type { ServedVersion } from './served-version.ts'

/** An answer, the canonical path and query that it answers, without a pin, and headers that its 304 has as well. */
type Resolved = {
  readonly answer: ReadyAnswer | StreamedAnswer
  readonly path: string
  readonly more: Readonly<Record<string, string>>
}

/** A dataset answer of the served version, or of the one that the query names. */
export const latestHandler =
  (route: Route, id: ResourceId): Handler =>
  async (c, parts) => {
    const served = c.get('served')
    const address = spelledAddress(c)
    const spelled = served === null ? null : await readSpelledOut(c, parts, served, address)
    if (spelled !== null) return sendLatest(c, parts, spelled)
    const pins = queryOf(c).getAll(PIN_PARAMETER)
    if (pins.length > 0) {
      const pinned = await openPinned(c, parts, pins.join(','))
      const resolved = await resolveAndRead(c, parts, pinned, route, id, '', true)
      return sendPinned(c, parts, resolved, pinned, twinHeader(pinned.version, resolved.path))
    }
    if (served === null) {
      throw new ApiError('not_ready', 'no dataset is loaded yet', {
        details: { checks: parts.source.checks() },
      })
    }
    return sendLatest(c, parts, await resolveAndRead(c, parts, served, route, id, address, false))
  }

/** A dataset answer of the version that the path names. */
export const pinnedHandler =
  (route: Route, id: ResourceId): Handler =>
  async (c, parts) => {
    const version = versionInPath(parts.source.history(), c.req.param('version') ?? '')
    const pinned = await openPinned(c, parts, version)
    const address = unpinnedPath(spelledAddress(c)) ?? ''
    const spelled = await readSpelledOut(c, parts, pinned, address)
    const resolved = spelled ?? (await resolveAndRead(c, parts, pinned, route, id, address, true))
    return sendPinned(c, parts, resolved, pinned)
  }

/** From here on the request is one of this version, also where it ends in an error. */
async function openPinned(c: Exchange, { pinned }: HistoryParts, version: string): Promise<ServedVersion> {
  const opened = await pinned.open(version)
  c.set('served', opened)
  return opened
}

type Sending = Response | Promise<Response>

const sendLatest = (c: Exchange, parts: HistoryParts, { answer, path, more }: Resolved): Sending => {
  const version = c.get('served')?.version ?? ''
  return send(c, parts, answer, CACHING.dataset, {
    ...latestHeaders(version, path, parts.settings),
    ...more,
  })
}

const sendPinned = (
  c: Exchange,
  parts: HistoryParts,
  { answer, more }: Resolved,
  { version }: ServedVersion,
  twin: Readonly<Record<string, string>> = {},
): Sending => send(c, parts, answer, CACHING.pinned, { ...pinnedHeaders(version), ...twin, ...more })

const send = (
  c: Exchange,
  parts: HistoryParts,
  answer: Resolved['answer'],
  caching: string,
  more: Readonly<Record<string, string>>,
): Sending =>
  'bytes' in answer
    ? sendReady(c, parts, answer, caching, more)
    : sendStreamed(c, parts, answer, caching, more)

/** Nearly every request spells a published path letter by letter, and needs no parsing at all. */
async function readSpelledOut(
  c: Exchange,
  parts: HistoryParts,
  version: ServedVersion,
  address: string,
): Promise<Resolved | null> {
  const artifact = version.artifacts.get(address)
  return artifact === undefined ? null : readPublished(c, parts, version, artifact)
}

/** A file, or the difference to what the client has; null where the file is lost. */
async function readPublished(
  c: Exchange,
  { published, deltas }: HistoryParts,
  { version }: ServedVersion,
  artifact: Artifact,
): Promise<Resolved | null> {
  const acceptEncoding = c.req.header('accept-encoding')
  const ordinary = await published.read(artifact, acceptEncoding)
  if (ordinary === null) return null
  c.set('kind', 'static')
  const resolved = { answer: ordinary, path: artifact.url, more: dictionaryHeadersOf(c, artifact) }
  if (!isDictionary(artifact)) return resolved
  const answer = await deltas.better(version, artifact, ordinary, {
    acceptEncoding,
    availableDictionary: c.req.header('available-dictionary'),
    ifNoneMatch: c.req.header('if-none-match'),
  })
  return { ...resolved, answer }
}

/** Nothing where no later answer can be told by this one. */
const dictionaryHeadersOf = (c: Exchange, artifact: Artifact | undefined): Record<string, string> =>
  artifact !== undefined && isDictionary(artifact)
    ? dictionaryHeaders(artifact.url, c.req.header('accept-encoding'))
    : {}

/** Path and query as they came, without parsing the address. */
const spelledAddress = ({ req: { url } }: Exchange): string =>
  url.slice(url.indexOf('/', url.indexOf('//') + 2))

const queryOf = (c: Exchange): URLSearchParams => new URL(c.req.url).searchParams

/** `tried` is an address that was looked up already. */
async function resolveAndRead(
  c: Exchange,
  parts: HistoryParts,
  version: ServedVersion,
  route: Route,
  id: ResourceId,
  tried: string,
  isPinned: boolean,
): Promise<Resolved> {
  const params = resolveRequest(route, version.snapshot, c.req.param('sid') ?? '', queryOf(c))
  const path = canonicalPath(id, params)
  const artifact = version.artifacts.get(path)
  // Where its file is lost, reading it again would only tell so twice.
  const isTried = artifact === undefined || path === tried
  const published = isTried ? null : await readPublished(c, parts, version, artifact)
  if (published !== null) return published
  c.set('kind', 'computed')
  const acceptEncoding = c.req.header('accept-encoding')
  const answer = await parts.computed.compute(
    version,
    id,
    params,
    acceptEncoding,
    isPinned || artifact !== undefined,
  )
  return { answer, path, more: dictionaryHeadersOf(c, artifact) }
}
