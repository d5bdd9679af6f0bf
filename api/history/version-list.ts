import { parseIsoDate } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { AS_OF_PARAMETER, pinnedPath } from '#core/contract/pins.ts'
import { routeOf } from '#core/contract/routes.ts'
import { sha256 } from '#storage/digest.ts'
import { servedAt } from '#storage/publications.ts'
import { CACHING } from '../http/shared-headers.ts'
import { answerHeaders, type Exchange, type Handler, type HistoryParts, sendLive } from './exchange.ts'
import { assertKnown, type History } from './history.ts'

/** `/v1/dataset/versions`: what was published, newest first; with `as_of` the way to what was served on a day. */
export const listVersions: Handler = (c, parts) => {
  const days = new URL(c.req.url).searchParams.getAll(AS_OF_PARAMETER)
  if (days.length > 0) {
    const day = parseDay(days)
    return redirectTo(c, parts, versionOn(assertKnown(parts.source.history()), day))
  }
  const { publications, head } = assertKnown(parts.source.history())
  const removed = publications.filter(({ is_removed }) => is_removed).map(({ version }) => version)
  const answer = {
    data: publications.map(publication => ({ ...publication })),
    links: { self: routeOf('versions').path, dataset: '/v1/dataset', version: '/version' },
  }
  // Weak: the register tells the time, so the bytes differ while the answer is the same.
  const states = [head, c.get('served')?.version, ...removed].join(' ')
  const etag = `W/"${sha256(new TextEncoder().encode(states)).slice(0, 32)}"`
  return sendLive(c, parts, answer, CACHING.pointer, etag)
}

/** The day as it was given. Throws `validation_error` where it is none, or was given more than once. */
function parseDay(days: readonly string[]): string {
  const [day = ''] = days
  if (days.length === 1 && parseIsoDate(day) !== null) return day
  const reason = days.length > 1 ? 'given more than once' : 'must be a calendar date YYYY-MM-DD'
  throw new ApiError('validation_error', `unfit query parameters: ${AS_OF_PARAMETER}`, {
    details: [{ param: AS_OF_PARAMETER, value: days.join(',').slice(0, ECHO_LENGTH), reason }],
  })
}

/** As much of a refused value as is repeated. */
const ECHO_LENGTH = 80

function versionOn({ log }: History, day: string): string {
  const version = servedAt(log, `${day}T23:59:59Z`)
  if (version !== null) return version
  const [first] = log
  const since = first === undefined ? 'nothing is published' : `the first was published ${first.entry.at}`
  throw new ApiError('not_found', `no version was served on ${day} yet; ${since}`)
}

const redirectTo = (c: Exchange, parts: HistoryParts, version: string): Response =>
  new Response(null, {
    status: 307,
    headers: {
      ...answerHeaders(c, parts),
      'cache-control': CACHING.pointer,
      'content-length': '0',
      location: pinnedPath(version, routeOf('dataset').path),
    },
  })
