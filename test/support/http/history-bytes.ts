// The history service as a process whose memory can be looked at, to which any bytes are sent.

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import type { Stores } from '../books/publish-book.ts'
import { type Running, type StartOptions, startProcess } from '../history/highwater-process.ts'
import { addressIn } from '../history/history-process.ts'
import { anyBytes } from './any-bytes.ts'
import { judgeBytes } from './judge-bytes.ts'

/** Connections at a time. */
export const AT_ONCE = 50

/** A refused connection may linger, and what it held goes with it. */
const SETTLING = { timeout: 60_000, interval: 500 }

/** What two looks at a service that does nothing differ by, and longer between them than a refused connection lingers. */
const SETTLED_BYTES = 64 << 10
const SETTLED_PAUSE_MS = 1_500

type Sending = { readonly batches: number; readonly seed?: number }

/**
 * Starts it on the stores, to run no longer than `hungMs`; `send` throws the seed and the connections whose answers were
 * not sound.
 */
export async function startBesieged(
  { url: STORE_URL, privateUrl: PRIVATE_STORE_URL }: Stores,
  hungMs = 90_000,
) {
  const env = { STORE_URL, PRIVATE_STORE_URL, HISTORY_PORT: '0' }
  const running = startInspected(['serve', 'history'], { env, hungMs })
  const url = addressIn(await running.prints(/^history service on (http:\S+)$/m))
  const inspector = await inspectorOf(running)
  return {
    running,
    url,
    heapBytes: () => settledHeapBytes(inspector),
    /** Holds the heap to a size, as soon as the connections that are just ending have gone. */
    holdHeapTo: (mostBytes: number) =>
      vi.waitFor(async () => expect(await collectedHeapBytes(inspector)).toBeLessThan(mostBytes), SETTLING),
    /**
     * Reads the largest answer until its bodies are more than `leastBytes`, so that a service that keeps bodies shows it: connections
     * of any bytes hardly ever hear one.
     */
    readBodies: async (leastBytes: number): Promise<void> => {
      for (let read = 0; read <= leastBytes; ) {
        const response = await fetch(`${url}/v1/export`, { headers: { 'accept-encoding': 'identity' } })
        expect(response.status).toBe(200)
        read += (await response.arrayBuffer()).byteLength
      }
    },
    send: ({ batches, seed }: Sending): Promise<void> =>
      fc.assert(
        fc.asyncProperty(
          fc.array(anyBytes, { minLength: AT_ONCE, maxLength: AT_ONCE }),
          async connections => {
            const problems = (await Promise.all(connections.map(sent => judgeBytes(url, sent)))).flat()
            if (problems.length > 0) throw new Error(problems.join('\n'))
          },
        ),
        { numRuns: batches, endOnFailure: true, ...(seed === undefined ? {} : { seed }) },
      ),
  }
}

/**
 * The memory once it no longer falls: connections that are just ending hold megabytes, and a bound above those would let
 * a leak of as much pass.
 */
async function settledHeapBytes(inspector: string): Promise<number> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const now = await collectedHeapBytes(inspector)
    if (now > before - SETTLED_BYTES) return now
    before = now
    await wait(SETTLED_PAUSE_MS)
  }
}

const COMMAND = join(import.meta.dirname, '../../../cli/highwater.ts')

/** Starts `highwater ...args` so that its memory can be looked at. */
const startInspected = (args: readonly string[], options: StartOptions): Running =>
  startProcess(process.execPath, ['--inspect=127.0.0.1:0', COMMAND, ...args], options)

/** Bodies and caches are `backingStorageSize`: an ArrayBuffer is a small object, and its bytes are outside of the heap. */
const usage = z.object({
  id: z.literal(2),
  result: z.object({ usedSize: z.number(), backingStorageSize: z.number() }),
})

/** Where its inspector listens. */
async function inspectorOf(running: Running): Promise<string> {
  const [, url = ''] = await running.prints(/^Debugger listening on (ws:\S+)$/m)
  return url
}

/** Bytes that its objects and buffers take once all that nobody needs is gone, as the inspector at `url` tells. */
async function collectedHeapBytes(url: string): Promise<number> {
  const socket = new WebSocket(url)
  try {
    return await new Promise<number>((resolve, reject) => {
      socket.onerror = () => reject(new Error(`the inspector at ${url} does not answer`))
      socket.onopen = () => {
        socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}')
        socket.send('{"id":2,"method":"Runtime.getHeapUsage"}')
      }
      socket.onmessage = ({ data }) => {
        const told = usage.safeParse(JSON.parse(String(data)))
        if (told.success) resolve(told.data.result.usedSize + told.data.result.backingStorageSize)
      }
    })
  } finally {
    socket.close()
  }
}
