// Pages that follow what happens: a browser that asks for the address of a page as a stream of events gets its content
// again whenever that has changed.
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { type Exchange, toRefusal } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'

const UPDATE_MS = 3_000

/** A stream without an event for this long gets an empty one, so that no proxy takes it for dead. */
const QUIET_MS = 20_000

/** Streams at a time: a page that gets none loads itself again now and then. */
const MOST_STREAMS = 32

export const wantsUpdates = (c: Exchange): boolean => c.req.header('accept') === 'text/event-stream'

/**
 * Sends what `render` returns, whenever it differs from what was sent. `render` resolves with null when the session is over; if
 * it rejects, the stream ends, and the browser asks again.
 */
export function createUpdates({ pause, onError, ended }: Pick<OperatorParts, 'pause' | 'onError' | 'ended'>) {
  let streams = 0
  return (c: Exchange, render: () => Promise<string | null>): Response => {
    if (streams >= MOST_STREAMS || ended?.aborted === true) return new Response(null, { status: 204 })
    streams++
    const send = async (stream: SSEStreamingApi): Promise<void> => {
      const isOver = () => stream.aborted || stream.closed || ended?.aborted === true
      let sent = ''
      let quietMs = 0
      try {
        while (!isOver()) {
          const content = await render()
          if (content === null) return
          quietMs += UPDATE_MS
          if (content !== sent) await stream.writeSSE({ event: 'content', data: content })
          else if (quietMs >= QUIET_MS) await stream.writeSSE({ event: 'quiet', data: '' })
          if (content !== sent || quietMs >= QUIET_MS) quietMs = 0
          sent = content
          await pause(UPDATE_MS)
        }
      } finally {
        streams--
      }
    }
    return streamSSE(c, send, async error => void toRefusal(error, onError))
  }
}
