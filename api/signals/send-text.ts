import { INTERNAL_ERROR_MESSAGE } from '#core/contract/errors.ts'
import { answerHeaders, type SignalsParts, sendBytes } from './exchange.ts'

/** A text of less is made whole before its first byte is sent, so that what fails is still answered in the envelope. */
const MOST_WHOLE_LENGTH = 1 << 18

const encoder = new TextEncoder()

/**
 * Sends a text that comes in pieces, as fast as it is read and no faster: one piece at a time is held. Where it fails on
 * the way the connection is cut, because a status cannot be taken back and half an answer must not look whole.
 */
export async function sendText(
  parts: SignalsParts,
  pieces: AsyncGenerator<string, void>,
  media: Readonly<Record<string, string>>,
): Promise<Response> {
  let text = ''
  while (text.length < MOST_WHOLE_LENGTH) {
    const next = await pieces.next()
    if (next.done) return sendBytes(parts, encoder.encode(text), media)
    text += next.value
  }
  return new Response(toStream(text, pieces, parts.onError), {
    headers: { ...answerHeaders(parts), ...media },
  })
}

function toStream(
  first: string,
  pieces: AsyncGenerator<string, void>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let waiting: string | null = first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = waiting === null ? await pieces.next() : { done: false, value: waiting }
          waiting = null
          if (next.done) controller.close()
          else controller.enqueue(encoder.encode(next.value ?? ''))
        } catch (error) {
          onError(error)
          controller.error(new Error(INTERNAL_ERROR_MESSAGE))
        }
      },
      async cancel() {
        await pieces.return()
      },
    },
    { highWaterMark: 0 }, // nothing is read ahead, and nothing at all for a HEAD
  )
}
