import { type Answered, type AnswerKind, UNROUTED } from './answered.ts'
import { type Exchange, type HistoryParts, requestIdOf, tookMs } from './exchange.ts'

const NOT_MODIFIED = 304
const FIRST_REFUSAL = 400

/** Tells what became of a request: at once, or at the end of an answer that is made while it is sent. */
export function tellAnswer(c: Exchange, parts: HistoryParts): void {
  const answered = answeredOf(c, parts)
  const sent = c.get('sent')
  if (sent === undefined) parts.onAnswered(answered)
  else
    void sent.then(({ bytes, isWhole }) => parts.onAnswered({ ...answered, bytes, ...(isWhole ? {} : CUT) }))
}

const CUT = { kind: 'cut' } as const

/** What became of a request, once its answer is made. The headers of the answer are not read: that alone would copy them. */
function answeredOf(c: Exchange, parts: HistoryParts): Answered {
  const { status } = c.res
  const { method } = c.req
  return {
    request_id: requestIdOf(c, parts),
    method,
    route: c.get('route') ?? UNROUTED,
    kind: kindOf(c, status),
    version: c.get('served')?.version ?? null,
    status,
    ms: tookMs(c, parts),
    bytes: method === 'HEAD' || status === NOT_MODIFIED ? 0 : (c.get('bytes') ?? 0),
  }
}

function kindOf(c: Exchange, status: number): AnswerKind {
  if (status >= FIRST_REFUSAL) return 'refused'
  return status === NOT_MODIFIED ? '304' : (c.get('kind') ?? 'live')
}
