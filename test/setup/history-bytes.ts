// The history service as a process whose heap can be looked at, to which any bytes are sent.
import fc from 'fast-check'
import { expect, vi } from 'vitest'
import { anyBytes } from './any-bytes.ts'
import { collectedHeapBytes, inspectorOf, startInspected } from './heap-of.ts'
import { addressIn } from './history-process.ts'
import { judgeBytes } from './judge-bytes.ts'
import type { Stores } from './publish-book.ts'

/** Connections at a time. */
export const AT_ONCE = 50

/** A refused connection may linger, and what it held goes with it. */
const SETTLING = { timeout: 20_000, interval: 500 }

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
    heapBytes: () => collectedHeapBytes(inspector),
    /** Holds the heap to a size, as soon as the connections that are just ending have gone. */
    holdHeapTo: (mostBytes: number) =>
      vi.waitFor(async () => expect(await collectedHeapBytes(inspector)).toBeLessThan(mostBytes), SETTLING),
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
