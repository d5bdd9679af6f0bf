import { type FileHandle, open, stat } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { FeedError } from '../admit-bar.ts'
import type { Feed, NewBarReader, Pause } from './feed.ts'
import { barsOfChunks } from './lines.ts'

/** How often a file is asked whether it has grown: a tenth of a second is nothing beside a bar. */
const LOOK_MS = 100

const CHUNK_BYTES = 1 << 16

/** A table of bars that grows at its end. It is read from its beginning: what is known already is passed over. */
export const fileFeed = (path: string, newReader: NewBarReader, pause: Pause): Feed => ({
  name: path,
  repeats: false,
  bars: stop => barsOfChunks(path, growth(path, pause, stop), newReader),
})

async function* growth(path: string, pause: Pause, stop: AbortSignal): AsyncIterable<Buffer> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new FeedError(path, `it cannot be read (${error instanceof Error ? error.message : String(error)})`)
  })
  try {
    const { ino } = await file.stat()
    let offset = 0
    while (!stop.aborted) {
      const chunk = await readAt(file, offset)
      offset += chunk.length
      if (chunk.length > 0) yield chunk
      else {
        await assertSameFile(path, ino, offset)
        await pause(LOOK_MS, stop)
      }
    }
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, offset: number): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset)
  return chunk.subarray(0, bytesRead)
}

/** A file that shrank or was replaced may hold another history; where this one ended cannot be told. */
async function assertSameFile(path: string, ino: number, offset: number): Promise<void> {
  const now = await stat(path).catch(() => null)
  if (now === null) throw new FeedError(path, `the file is gone; ${AGAIN}`)
  if (now.ino !== ino) throw new FeedError(path, `another file was put in its place; ${AGAIN}`)
  if (now.size < offset) throw new FeedError(path, `the file was cut to ${now.size} bytes; ${AGAIN}`)
}

const AGAIN = 'start the runner again once it is whole, and it goes on where it stood'

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
