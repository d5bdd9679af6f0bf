// Requests that only a real server can refuse, because they never become requests.
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** As `fetch`, which would refuse to send such headers. */
export const askOverWire = (url: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { ...headers, connection: 'close' } }, incoming => {
      buffer(incoming).then(body => resolve(toResponse(incoming, body)), reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })

const toResponse = ({ statusCode = 0, rawHeaders }: IncomingMessage, body: Buffer): Response =>
  new Response(Uint8Array.from(body), {
    status: statusCode,
    headers: rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ''] as [string, string]] : [],
    ),
  })

/** Headers that are refused before anything is known of a request, by the code of the refusal, and how to speak of them. */
export const REFUSED_HEADERS = {
  bad_request: { request: 'with a Host that is none', headers: { host: 'not a host' } },
  headers_too_large: { request: 'with 20 kB of headers', headers: { 'x-huge': 'x'.repeat(20_000) } },
} as const
