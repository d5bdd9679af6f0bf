import { matchesEtag } from '../http/etag.ts'
import { datasetHeaders, type Exchange, type HistoryParts, notModified, requestIdOf } from './exchange.ts'
import type { StreamedAnswer } from './ready-answer.ts'
import { openStream } from './stream-body.ts'

/**
 * A dataset answer that is made while it is sent, or 304 where the client has it. Its headers wait for its first bytes,
 * so that what cannot be answered at all is refused in the envelope.
 */
export async function sendStreamed(
  c: Exchange,
  parts: HistoryParts,
  answer: StreamedAnswer,
  caching: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = () => datasetHeaders(c, parts, caching, more)
  if (matchesEtag(c.req.header('if-none-match'), answer.etag)) return notModified(headers(), answer.etag)
  const own = answer.headers()
  if (c.req.method === 'HEAD') return new Response(null, { headers: { ...headers(), ...own } })
  const { stream, sent } = await openStream(answer.open(), {
    onFault: error => parts.onError(error, requestIdOf(c, parts)),
    cutOff: connectionCutter(c),
  })
  c.set('sent', sent)
  return new Response(stream, { headers: { ...headers(), ...own } })
}

/**
 * Ends the connection of a request in the middle of its answer. By a reset, because a reader of HTTP/1.0 takes any other
 * end for that of the answer. Null where there is no connection.
 */
function connectionCutter(c: Exchange): (() => void) | null {
  const outgoing = c.env?.outgoing
  if (outgoing === undefined) return null
  // An answer that waits for its turn has no socket yet: it ends the connection when it gets one.
  return () => void (outgoing.socket?.resetAndDestroy() ?? outgoing.destroy())
}
