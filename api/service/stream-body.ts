/** How the sending of a body ended: whole, or broken off after so many bytes. */
export type Sent = { readonly bytes: number; readonly isWhole: boolean }

type StreamOptions = {
  /** Called with the error if a chunk cannot be made. The client sees a connection that breaks off. */
  readonly onError: (error: unknown) => void
  /** A client that has not read the body after this time is cut off; absent, it may take as long as it reads at all. */
  readonly limitMs?: number
  /** Ends the connection, null if there is none: half a body must not end as a whole one does. */
  readonly cutOff?: (() => void) | null
}

/**
 * A body made while it is sent: a chunk is made when the one before has been taken. Waits for the first chunk, and
 * rejects if it cannot be made, so that the caller can still refuse. The generator is always ended: at the last chunk,
 * at an error, when the client leaves and when its time is up. (Hono's `stream` ends a failed body like a whole one.)
 */
export async function streamBody(
  chunks: AsyncGenerator<Uint8Array, void>,
  { onError, limitMs, cutOff = null }: StreamOptions,
): Promise<{ readonly stream: ReadableStream<Uint8Array>; readonly sent: Promise<Sent> }> {
  let first: IteratorResult<Uint8Array, void> | null = await chunks.next()
  let bytes = 0
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const { promise: sent, resolve } = Promise.withResolvers<Sent>()
  const end = (isWhole: boolean): void => {
    isOver = true
    clearTimeout(timer)
    void chunks.return().catch(() => {}) // its error, if any, was the one that ended it
    resolve({ bytes, isWhole })
  }
  const breakOff = (controller: ReadableStreamDefaultController): void => {
    end(false)
    if (cutOff === null) controller.error(new Error('the answer broke off'))
    else cutOff()
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (limitMs !== undefined) timer = setTimeout(() => breakOff(controller), limitMs).unref()
      },
      async pull(controller) {
        try {
          const { done, value } = first ?? (await chunks.next())
          first = null
          if (isOver) return
          if (done) {
            controller.close()
            return end(true)
          }
          bytes += value.length
          controller.enqueue(value)
        } catch (error) {
          if (isOver) return
          onError(error)
          breakOff(controller)
        }
      },
      cancel: () => end(false),
    },
    { highWaterMark: 0 }, // nothing is read ahead
  )
  return { stream, sent }
}
