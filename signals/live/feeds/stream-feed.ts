import { addAbortSignal, type Readable } from 'node:stream'
import type { Feed, NewBarReader } from './feed.ts'
import { barsOfChunks } from './lines.ts'

/** A table of bars that comes through a pipe, such as standard input. It ends when the pipe does. */
export const streamFeed = (name: string, stream: Readable, newReader: NewBarReader): Feed => ({
  name,
  repeats: false,
  bars: stop => barsOfChunks(name, chunksUntil(stream, stop), newReader),
})

async function* chunksUntil(stream: Readable, stop: AbortSignal): AsyncIterable<Buffer> {
  try {
    for await (const chunk of addAbortSignal(stop, stream)) {
      yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
    }
  } catch (error) {
    if (!stop.aborted) throw error
  }
}
