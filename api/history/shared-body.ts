import { createHeldChunks } from './held-chunks.ts'

type Chunk = Uint8Array<ArrayBuffer>

/** Who reads a body. */
export type BodyReader = {
  /** The next bytes, null at the end and after it was left. Rejects where the body cannot be made. One call at a time. */
  next(): Promise<Chunk | null>
  /** Reads no further; what is still asked for is refused with the reason, where there is one. */
  leave(reason?: Error): void
}

/** A body that is made once, while any number read it from the beginning, each as fast as they like. */
export type SharedBody = {
  /** Another reader; null where the beginning is gone, or all others are. */
  join(): BodyReader | null
}

export type BodyLimits = {
  /** How far it is made ahead of its quickest reader. */
  readonly aheadBytes: number
  /** What is held of it. Above, what all have read is let go, and nothing is made until there is room. */
  readonly heldBytes: number
}

export type BodyEvents = {
  /** The whole of it is made, and all of it is still held. */
  readonly onWhole: (bytes: Chunk) => void
  /** The last reader has gone: nobody can join, and nothing more is made. */
  readonly onDeserted: () => void
}

type Reader = { at: number; passedBytes: number; wake: () => void }

type State =
  | { readonly kind: 'new' | 'making' | 'made' | 'deserted' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** The body whose chunks these are. They are asked for one at a time, and not before somebody reads. */
export function createSharedBody(
  chunks: AsyncIterable<Chunk>,
  limits: BodyLimits,
  { onWhole, onDeserted }: BodyEvents,
): SharedBody {
  const readers = new Set<Reader>()
  const held = createHeldChunks()
  let state: State = { kind: 'new' }
  let goOn = (): void => {}

  const fits = (): boolean => held.addedBytes() < limits.heldBytes
  const isWanted = (): boolean =>
    held.addedBytes() - quickestBytes(readers) < limits.aheadBytes && held.heldBytes() < limits.heldBytes
  const stir = (): void => {
    if (!fits()) held.letGo(slowestAt(readers))
    goOn()
  }
  const make = async (): Promise<void> => {
    state = { kind: 'making' }
    for await (const chunk of chunks) {
      held.add(chunk)
      wakeAll(readers)
      while (readers.size > 0 && !isWanted()) {
        await new Promise<void>(resolve => {
          goOn = resolve
        })
      }
      if (readers.size === 0) return
    }
    if (readers.size === 0) return // the last one left while the end was looked for
    state = { kind: 'made' }
    if (fits()) onWhole(held.join())
  }
  const begin = (): void => {
    const fail = (error: unknown): void => {
      if (readers.size > 0) state = { kind: 'failed', error }
    }
    void make()
      .catch(fail)
      .then(() => wakeAll(readers))
  }
  const leave = (reader: Reader): void => {
    if (!readers.delete(reader)) return
    reader.wake()
    stir()
    if (readers.size > 0) return
    state = { kind: 'deserted' }
    onDeserted()
  }
  const read = async (reader: Reader): Promise<Chunk | null> => {
    while (readers.has(reader)) {
      const chunk = held.at(reader.at)
      if (chunk !== undefined) {
        reader.at++
        reader.passedBytes += chunk.length
        stir()
        return chunk
      }
      if (state.kind === 'made') leave(reader)
      else if (state.kind === 'failed') throw state.error
      else {
        await new Promise<void>(resolve => {
          reader.wake = resolve
        })
      }
    }
    return null
  }
  const join = (): BodyReader => {
    const reader: Reader = { at: 0, passedBytes: 0, wake: () => {} }
    let refusal: Error | null = null
    readers.add(reader)
    if (state.kind === 'new') begin()
    return {
      async next() {
        const chunk = await read(reader)
        if (chunk === null && refusal !== null) throw refusal
        return chunk
      },
      leave(reason) {
        if (readers.has(reader)) refusal = reason ?? null
        leave(reader)
      },
    }
  }
  const isOpen = (): boolean => held.isWhole() && state.kind !== 'deserted' && state.kind !== 'failed'
  return { join: () => (isOpen() ? join() : null) }
}

function wakeAll(readers: ReadonlySet<Reader>): void {
  for (const { wake } of readers) wake()
}

function quickestBytes(readers: ReadonlySet<Reader>): number {
  let bytes = 0
  for (const { passedBytes } of readers) bytes = Math.max(bytes, passedBytes)
  return bytes
}

function slowestAt(readers: ReadonlySet<Reader>): number {
  let slowest = Number.POSITIVE_INFINITY
  for (const { at } of readers) slowest = Math.min(slowest, at)
  return slowest
}
