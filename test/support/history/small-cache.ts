// A cache in front of a tier, as small as it can be: it keeps what it fetched until a PURGE with the tag of everything
// unpinned. Real HTTP on a port of its own; tier and cache can be told to fail.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type SmallCache = {
  readonly url: string
  /** The version that the tier behind it serves. */
  served: string
  /** While set, every request gets this status and changes nothing. */
  failure: number | null
  /** What is kept, by path. */
  readonly kept: Map<string, string>
  /** Everything asked so far: `GET /readyz`. */
  readonly asked: string[]
}

/** Starts it; it ends with the test. */
export async function startSmallCache(served: string): Promise<SmallCache> {
  const server = createServer((request, response) => answer(cache, request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a string only for pipes
  const cache: SmallCache = {
    url: `http://127.0.0.1:${port}`,
    served,
    failure: null,
    kept: new Map(),
    asked: [],
  }
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return cache
}

function answer(cache: SmallCache, { method, url = '', headers }: IncomingMessage, response: ServerResponse) {
  cache.asked.push(`${method} ${url}`)
  if (cache.failure !== null) {
    response.writeHead(cache.failure).end('no')
  } else if (method === 'PURGE') {
    if (headers.xkey === 'unpinned') cache.kept.clear()
    response.end('purged')
  } else {
    response.end(JSON.stringify({ data: {}, meta: { dataset_version: versionOf(cache, url) } }))
  }
}

function versionOf({ kept, served }: SmallCache, url: string): string {
  if (url === '/readyz') return served
  const version = kept.get(url) ?? served
  kept.set(url, version)
  return version
}
