import { isDictionary } from '#core/contract/dictionaries.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { deprecationHeaders } from '../http/deprecation.ts'
import { matchesEtag } from '../http/etag.ts'
import { CACHING, COMMON_HEADERS } from '../http/shared-headers.ts'
import type { AtOnce, AtOnceAnswer } from '../wire/at-once.ts'
import type { PlainRequest } from '../wire/plain-request.ts'
import { readCanonical, templateOf } from './canonical-question.ts'
import { dictionaryHeaders, latestHeaders } from './dataset-headers.ts'
import { type HistoryParts, toRequestId } from './exchange.ts'
import type { ReadyAnswer } from './ready-answer.ts'
import type { ServedVersion } from './served-version.ts'
import type { HistorySettings } from './settings.ts'

type QuickParts = Pick<
  HistoryParts,
  'source' | 'published' | 'computed' | 'settings' | 'clock' | 'newRequestId' | 'onAnswered'
>

/** Headers of both answers that there can be, names and values in turns, and the template of the route, for who is told. */
type Heads = {
  readonly whole: readonly string[]
  readonly notModified: readonly string[]
  readonly route: string
}

/**
 * Nearly every request spells the canonical address of an answer. It is answered here with the bytes and the headers that
 * the app would send, but without the objects of a request, a route and an answer, which cost several times as much as
 * sending (bench/results.md): at once where the answer is in memory, soon where it is computed. Everything else is the
 * app's: other methods, other spellings, origins, deltas, bodies, refusals, what must be read, and what is streamed.
 */
export function createQuickAnswers(parts: QuickParts): AtOnce['answer'] {
  const { source, published, computed, clock } = parts
  const finish = createFinish(parts)
  return request => {
    const { path, acceptEncoding } = request
    const startedMs = clock.elapsed()
    const served = source.current()
    if (served === null) return null
    const artifact = served.artifacts.get(path)
    if (artifact !== undefined) {
      const answer = published.peek(artifact, acceptEncoding)
      return answer === null ? null : finish({ request, served, artifact, startedMs }, answer)
    }
    const kept = computed.peek(served, path, acceptEncoding)
    if (kept !== null) return finish({ request, served, artifact, startedMs }, kept)
    const question = readCanonical(served.snapshot, path)
    if (question === null) return null
    return computed
      .compute(served, question.id, question.params, acceptEncoding)
      .then(answer => ('bytes' in answer ? finish({ request, served, artifact, startedMs }, answer) : null))
  }
}

type Asked = {
  readonly request: PlainRequest
  readonly served: ServedVersion
  readonly artifact: Artifact | undefined
  readonly startedMs: number
}

/** Puts the headers to an answer, and tells of it. */
function createFinish({ settings, clock, newRequestId, onAnswered }: QuickParts) {
  const heads = new WeakMap<ReadyAnswer, Heads>() // an answer belongs to one address of one version
  const headsOf = (answer: ReadyAnswer, { request, served, artifact }: Asked): Heads => {
    const known = heads.get(answer)
    if (known !== undefined) return known
    const { path, acceptEncoding } = request
    const made = toHeads(answer, latestHead(served.version, path, artifact, acceptEncoding, settings), path)
    heads.set(answer, made)
    return made
  }
  return (asked: Asked, answer: ReadyAnswer): AtOnceAnswer => {
    const { request, served, artifact, startedMs } = asked
    const { whole, notModified, route } = headsOf(answer, asked)
    const isKnown = matchesEtag(request.ifNoneMatch, answer.etag)
    const status = isKnown ? 304 : 200
    const ms = Math.round((clock.elapsed() - startedMs) * 1000) / 1000
    onAnswered({
      request_id: toRequestId(request.requestId, newRequestId),
      method: 'GET',
      route,
      kind: isKnown ? '304' : artifact === undefined ? 'computed' : 'static',
      version: served.version,
      ...{ status, ms, bytes: isKnown ? 0 : answer.bytes.length },
    })
    return isKnown
      ? { status, fields: notModified, body: null, ms }
      : { status, fields: whole, body: answer.bytes, ms, release: answer.release }
  }
}

function latestHead(
  version: string,
  path: string,
  artifact: Artifact | undefined,
  coding: string | undefined,
  settings: HistorySettings,
): Record<string, string> {
  return {
    ...COMMON_HEADERS,
    ...deprecationHeaders(settings.deprecatedAtMs, settings.sunsetAtMs),
    'cache-control': CACHING.dataset,
    ...latestHeaders(version, path, settings),
    ...(artifact !== undefined && isDictionary(artifact) ? dictionaryHeaders(path, coding) : {}),
  }
}

function toHeads(
  { etag, headers }: ReadyAnswer,
  common: Readonly<Record<string, string>>,
  url: string,
): Heads {
  const flat = (fields: Readonly<Record<string, string>>) => Object.entries({ ...common, ...fields }).flat()
  return { whole: flat(headers), notModified: flat({ etag }), route: templateOf(url) }
}
