import { isDictionary } from '#core/contract/dictionaries.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { deprecationHeaders } from '../deprecation.ts'
import { matchesEtag } from '../etag.ts'
import { CACHING, COMMON_HEADERS } from '../shared-headers.ts'
import type { AtOnce } from '../wire/at-once.ts'
import { UNROUTED } from './answered.ts'
import { dictionaryHeaders, latestHeaders } from './dataset-headers.ts'
import { type HistoryParts, toRequestId } from './exchange.ts'
import type { ReadyAnswer } from './ready-answer.ts'
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
 * Nearly every request spells the canonical address of an answer that is in memory. It is answered here with the bytes and
 * the headers that the app would send, but without the objects of a request, a route and an answer, which cost several
 * times as much as sending (bench/results.md). Everything else is the app's: other methods, other spellings, origins,
 * deltas, bodies, and what must be read or computed first.
 */
export function createQuickAnswers({
  source,
  published,
  computed,
  settings,
  clock,
  newRequestId,
  onAnswered,
}: QuickParts): AtOnce['answer'] {
  const heads = new WeakMap<ReadyAnswer, Heads>() // an answer belongs to one address of one version
  return ({ path, acceptEncoding, ifNoneMatch, requestId }) => {
    const startedMs = clock.elapsed()
    const served = source.current()
    if (served === null) return null
    const artifact = served.artifacts.get(path)
    const answer =
      artifact === undefined
        ? computed.peek(served, path, acceptEncoding)
        : published.peek(artifact, acceptEncoding)
    if (answer === null) return null
    let head = heads.get(answer)
    if (head === undefined) {
      head = toHeads(answer, latestHead(served.version, path, artifact, acceptEncoding, settings), path)
      heads.set(answer, head)
    }
    const isKnown = matchesEtag(ifNoneMatch, answer.etag)
    const status = isKnown ? 304 : 200
    const ms = Math.round((clock.elapsed() - startedMs) * 1000) / 1000
    onAnswered({
      request_id: toRequestId(requestId, newRequestId),
      method: 'GET',
      route: head.route,
      kind: isKnown ? '304' : artifact === undefined ? 'computed' : 'static',
      version: served.version,
      ...{ status, ms, bytes: isKnown ? 0 : answer.bytes.length },
    })
    return isKnown
      ? { status, fields: head.notModified, body: null, ms }
      : { status, fields: head.whole, body: answer.bytes, ms }
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

const TEMPLATES = ROUTES.map(({ path }) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(?:\\?|$)`),
}))

/** The template that an address follows. */
const templateOf = (url: string): string =>
  TEMPLATES.find(({ pattern }) => pattern.test(url))?.path ?? UNROUTED
