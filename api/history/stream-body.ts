import { SlowReaderError } from './large-answers.ts'
import type { BodyReader } from './shared-body.ts'

/** How the sending of a body ended: whole, or broken off after so many bytes. */
export type Sent = { readonly bytes: number; readonly isWhole: boolean }

export type StreamEvents = {
  /** Told why it cannot be made any further. Who reads is told nothing. */
  readonly onFault: (error: unknown) => void
  /** Ends the connection, null where there is none: half a body must not end as a whole one does. */
  readonly cutOff: (() => void) | null
}

/**
 * What a reader reads as the body of a response: no more is read than is asked for, and who stops asking has left. Waits
 * for the first bytes, and rejects where there are none.
 */
export async function openStream(
  reader: BodyReader,
  { onFault, cutOff }: StreamEvents,
): Promise<{ readonly stream: ReadableStream<Uint8Array>; readonly sent: Promise<Sent> }> {
  let next = await firstOf(reader)
  let bytes = 0
  let isOver = false
  const { promise: sent, resolve } = Promise.withResolvers<Sent>()
  const end = (isWhole: boolean): void => {
    isOver = true
    reader.leave()
    resolve({ bytes, isWhole })
  }
  const breakOff = (controller: ReadableStreamDefaultController, error: unknown): void => {
    if (!(error instanceof SlowReaderError)) onFault(error)
    end(false)
    if (cutOff === null) controller.error(new Error('the answer broke off'))
    else cutOff()
  }
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    try {
      const chunk = next ?? (await reader.next())
      next = null
      if (isOver) return
      if (chunk === null) {
        controller.close()
        return end(true)
      }
      bytes += chunk.length
      controller.enqueue(chunk)
    } catch (error) {
      if (!isOver) breakOff(controller, error)
    }
  }
  const stream = new ReadableStream<Uint8Array>({ pull, cancel: () => end(false) }, { highWaterMark: 0 })
  return { stream, sent }
}

async function firstOf(reader: BodyReader): Promise<Uint8Array | null> {
  try {
    return await reader.next()
  } catch (error) {
    reader.leave()
    throw error
  }
}
