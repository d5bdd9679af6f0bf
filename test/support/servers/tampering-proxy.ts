// A service that does not hand out what was published: a proxy before the real one, which spoils some answers.
import { createServer, type ServerResponse } from 'node:http'
import { listenForTest } from '../http/listen-for-test.ts'
import { damage } from '../stores/store-doubles.ts'

/** What becomes of an answer. */
export type Tampering =
  | 'altered'
  | 'truncated'
  | 'endless'
  | 'missing'
  | 'error 500'
  | 'cut'
  | 'silent'
  | 'redirected away'
  | 'redirected'

export type TamperingProxy = {
  readonly url: string
  /** From now on; a path without its query. Null hands on what was published. */
  readonly tamper: (rule: (path: string) => Tampering | null) => void
}

/** Starts a proxy before a service, which hands on everything, and ends with the running test, or with the file. */
export async function startTamperingProxy(service: string): Promise<TamperingProxy> {
  let rule: (path: string) => Tampering | null = () => null
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', service)
    answer(rule(url.pathname), url, outgoing).catch(() => outgoing.destroy())
  })
  return {
    url: await listenForTest(server),
    tamper: next => {
      rule = next
    },
  }
}

async function answer(tampering: Tampering | null, url: URL, outgoing: ServerResponse): Promise<void> {
  if (tampering === 'silent') return
  if (tampering === 'error 500') return end(outgoing.writeHead(500))
  if (tampering === 'missing') return end(outgoing.writeHead(404))
  if (tampering === 'redirected away')
    return end(outgoing.writeHead(302, { location: `http://localhost:1${url.pathname}` }))
  if (tampering === 'redirected' && !url.searchParams.has('again')) {
    url.searchParams.set('again', '')
    return end(outgoing.writeHead(302, { location: url.pathname + url.search }))
  }
  url.searchParams.delete('again')
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  const body = new Uint8Array(await response.arrayBuffer())
  const sent = spoil(tampering, body)
  const length = tampering === 'cut' ? body.length + 1 : sent.length
  outgoing.writeHead(response.status, { 'content-length': length })
  if (tampering === 'cut') outgoing.write(sent, () => outgoing.destroy())
  else outgoing.end(sent)
}

const end = (outgoing: ServerResponse): void => {
  outgoing.end()
}

function spoil(tampering: Tampering | null, body: Uint8Array): Uint8Array {
  if (tampering === 'altered') return damage(body)
  if (tampering === 'truncated') return body.subarray(0, body.length >> 1)
  return tampering === 'endless' ? Buffer.concat([body, body]) : body
}
