import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDictionary } from '#core/contract/dictionaries.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { deprecationHeaders } from '../deprecation.ts'
import { matchesEtag } from '../etag.ts'
import { acceptsDelta } from '../negotiate-coding.ts'
import { CACHING, COMMON_HEADERS } from '../shared-headers.ts'
import { UNROUTED } from './answered.ts'
import { dictionaryHeaders, latestHeaders } from './dataset-headers.ts'
import { type HistoryParts, toRequestId } from './exchange.ts'
import type { ReadyAnswer } from './ready-answer.ts'
import type { HistorySettings } from './settings.ts'

/** Answers a request at once, or leaves it to the app and returns false. */
export type QuickAnswers = (request: IncomingMessage, response: ServerResponse) => boolean

type QuickParts = Pick<
  HistoryParts,
  'source' | 'published' | 'computed' | 'settings' | 'clock' | 'newRequestId' | 'onAnswered'
>

/**
 * Headers of both answers that there can be, names and values in turns, as Node writes them fastest, and the template of
 * the route, for who is told.
 */
type Heads = { readonly whole: string[]; readonly notModified: string[]; readonly route: string }

/** A longer address may be one that the app refuses. */
const LONGEST_ADDRESS = 512

/** A name or an address, maybe with a port. Any other is for the app to judge. */
const PLAIN_HOST = /^[\w.-]+(?::\d+)?$/

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
}: QuickParts): QuickAnswers {
  const heads = new WeakMap<ReadyAnswer, Heads>() // an answer belongs to one address of one version
  return (request, response) => {
    const startedMs = clock.elapsed()
    const { url = '', headers } = request
    if (!isPlain(request)) return false
    const served = source.current()
    if (served === null) return false
    const artifact = served.artifacts.get(url)
    const coding = headers['accept-encoding']
    const answer =
      artifact === undefined ? computed.peek(served, url, coding) : published.peek(artifact, coding)
    if (answer === null) return false
    let head = heads.get(answer)
    if (head === undefined) {
      head = toHeads(answer, latestHead(served.version, url, artifact, coding, settings), url)
      heads.set(answer, head)
    }
    const isKnown = matchesEtag(headers['if-none-match'], answer.etag)
    const fields = isKnown ? head.notModified : head.whole
    const tookMs = Math.round((clock.elapsed() - startedMs) * 1000) / 1000
    fields[TIMING_AT] = `app;dur=${tookMs}` // written in the next line: nobody else sees it
    response.writeHead(isKnown ? 304 : 200, fields)
    if (isKnown) response.end()
    else response.end(answer.bytes)
    const name = headers['x-request-id']
    onAnswered({
      request_id: toRequestId(Array.isArray(name) ? name[0] : name, newRequestId),
      method: 'GET',
      route: head.route,
      kind: isKnown ? '304' : artifact === undefined ? 'computed' : 'static',
      version: served.version,
      status: isKnown ? 304 : 200,
      ms: tookMs,
      bytes: isKnown ? 0 : answer.bytes.length,
    })
    return true
  }
}

/** Whether nothing but the address and the coding decides what is answered. */
function isPlain({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    url.length <= LONGEST_ADDRESS &&
    headers.origin === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    PLAIN_HOST.test(headers.host ?? '') &&
    !acceptsDelta(headers['accept-encoding'])
  )
}

/** Where the measured time stands in the list: it is the first header, and its value follows its name. */
const TIMING_AT = 1

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
  const flat = (fields: Readonly<Record<string, string>>) =>
    Object.entries({ 'server-timing': '', ...common, ...fields }).flat()
  return { whole: flat(headers), notModified: flat({ etag }), route: templateOf(url) }
}

const TEMPLATES = ROUTES.map(({ path }) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(?:\\?|$)`),
}))

/** The template that an address follows. */
const templateOf = (url: string): string =>
  TEMPLATES.find(({ pattern }) => pattern.test(url))?.path ?? UNROUTED
