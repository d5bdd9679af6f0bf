// The history service as a process whose memory can be looked at, to which any bytes are sent.
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { parseJson } from '#storage/json-bytes.ts'
import type { Stores } from '../books/publish-book.ts'
import { startProcess } from '../history/highwater-process.ts'
import { addressIn } from '../history/history-process.ts'
import type { Running } from '../processes.ts'

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
  const args = ['--expose-gc', '--import', `data:text/javascript,${METER}`, COMMAND, 'serve', 'history']
  const running = startProcess(process.execPath, args, { env, hungMs })
  const url = addressIn(await running.prints(/^history service on (http:\S+)$/m))
  return {
    running,
    url,
    heapBytes: () => settledHeapBytes(running),
    /** Holds the heap to a size, as soon as the connections that are just ending have gone. */
    holdHeapTo: (mostBytes: number) =>
      vi.waitFor(async () => expect(await collectedHeapBytes(running)).toBeLessThan(mostBytes), SETTLING),
    /**
     * Reads the largest answer until its bodies are more than `leastBytes`, so that a service that keeps bodies shows it: connections
     * of any bytes hardly ever get one.
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
async function settledHeapBytes(running: Running): Promise<number> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const now = await collectedHeapBytes(running)
    if (now > before - SETTLED_BYTES) return now
    before = now
    await wait(SETTLED_PAUSE_MS)
  }
}

const COMMAND = join(import.meta.dirname, '../../../cli/highwater.ts')

/** Has a process print, at each SIGUSR2, the bytes of its objects and of its buffers, which are outside of the heap. */
const METER =
  'process.on("SIGUSR2",()=>{gc();let{heapUsed,external}=process.memoryUsage();console.log("uses",heapUsed+external)})'

/** Bytes of its objects and buffers after a garbage collection. */
async function collectedHeapBytes({ kill, printed }: Running): Promise<number> {
  const readings = () => [...printed().matchAll(/^uses (\d+)$/gm)].map(([, bytes]) => Number(bytes))
  const { length } = readings()
  kill('SIGUSR2')
  await vi.waitFor(() => expect(readings().length).toBeGreaterThan(length), SETTLING)
  return readings().at(-1)!
}

/** A client leaves after so long without an answer: what it sent is the beginning of a request. */
const PATIENCE_MS = 150

type Heard = { readonly text: string; readonly isWhole: boolean }

/** Sends bytes, and returns what is wrong with the answer; an empty list if nothing is. */
async function judgeBytes(url: string, sent: Sent): Promise<readonly string[]> {
  const heard = await talk(url, sent)
  return problemsIn(heard, /HEAD/.test(sent.pieces.join('')))
}

function talk(url: string, { pieces, isAborted }: Sent): Promise<Heard> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true })
    let [text, isWhole] = ['', true]
    const leave = (): void => {
      isWhole = false
      socket.destroy()
    }
    socket.setEncoding('latin1').setTimeout(PATIENCE_MS, leave)
    socket.on('data', (more: string) => {
      text += more
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      isWhole = false
      // The server may be done with the connection while bytes are still on their way to it.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.once('close', () => resolve({ text, isWhole }))
    socket.once('connect', () => {
      for (const piece of pieces) socket.write(piece, 'latin1', isAborted ? leave : undefined)
    })
  })
}

/** What Node answers by itself to what is not a request, without a body. */
const BY_SERVER: ReadonlySet<number> = new Set([400, 408, 413, 431])

const refusal = z.object({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: z.looseObject({ generated_utc: z.string() }),
})

function problemsIn({ text, isWhole }: Heard, mayBeHeads: boolean): string[] {
  const problems: string[] = []
  let rest = text
  while (rest !== '') {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n(?:[\w-]+: [^\r\n]*\r\n)*\r\n/.exec(rest)
    if (head === null)
      return isWhole ? [...problems, `no answer: ${rest.slice(0, 200)} in ${JSON.stringify(text)}`] : problems
    const status = Number(head[1])
    rest = rest.slice(head[0].length)
    if (status === 100) continue
    if (status >= 500) problems.push(`failed: ${head[0]}`)
    const length = Number(/^content-length: (\d+)/im.exec(head[0])?.[1] ?? 0)
    const isBare = status === 304 || (mayBeHeads && (rest === '' || rest.startsWith('HTTP/1.1 ')))
    if (isBare) continue
    const body = rest.slice(0, length)
    rest = rest.slice(length)
    if (body.length < length) return isWhole ? [...problems, `cut off: ${head[0]}${body}`] : problems
    if (BY_SERVER.has(status) && body === '') {
      rest = rest.replace(/^0\r\n\r\n/, '') // chunked
      continue
    }
    if (status >= 400 && !refusal.safeParse(parseJson(body)).success)
      problems.push(`no envelope: ${head[0]}${body}`)
  }
  return problems
}

/** What is sent over one connection, in pieces; `isAborted`: the sender goes away without reading. */
type Sent = { readonly pieces: readonly string[]; readonly isAborted: boolean }

const LONG = 'x'.repeat(9_000)

/** Texts that are separated by a bar. */
const textsIn = (...rows: readonly string[]): string[] => rows.flatMap(row => row.split('|'))

const METHODS = textsIn('GET|HEAD|OPTIONS|POST|PUT|TRACE|CONNECT|BREW|get|G(T|PRI|')
const TARGETS = textsIn(
  '/healthz|/v1/summary|/v1/export?risk_pct=0.013|/v1/strategies/ash/curve?format=csv|/|*||other.example:443',
  'http://other.example/healthz|https://u:p@other.example:99999/|http://[/',
  `/%|/%zz|/%00|/%ff%fe|/..%2f..|//|/\0|/\xff|/a b|/#|/?#|/${LONG}|/?${LONG}`,
)
const VERSIONS = textsIn(' HTTP/1.1| HTTP/1.0| HTTP/0.9| HTTP/2.0| HTTP/1.2| HTTP/9| http/1.1|')

const HEADERS = textsIn(
  'Host: a|Host: b|Host:|Host: a b|Host: [|host: a:99999999|Host: <a>',
  'Content-Length: 0|Content-Length: 3|Content-Length: -1|Content-Length: 3, 3|Content-Length: 1e9',
  'Content-Length: 99999999999999999999|Content-Length: 9999999|Content-Length: +3|Content-Length: ',
  'Transfer-Encoding: chunked|Transfer-Encoding: xchunked|Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, chunked|Transfer-Encoding : chunked|Transfer-Encoding: identity',
  'Connection: close|Connection: keep-alive|Connection: Upgrade|Upgrade: h2c|HTTP2-Settings: AA',
  `Expect: 100-continue|Expect: tea|X: a\0b|X: \xff| folded|: x|x|X|X: ${LONG}|a:`,
  'Accept-Encoding: br|If-None-Match: *|Range: bytes=0-1,5-|Origin: null|Cookie: a=b|Date: x',
)

const BODIES = textsIn('|||abc|3\r\nabc\r\n0\r\n\r\n|0\r\n\r\n|FFFFFFFFFFFFFFFFF\r\nabc|FFFFFFFF\r\nabc')
const STRAY = textsIn(
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03|PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04|\0\0\0\0|zz\r\n',
  `\r\n\r\n|\n|GET /healthz\r\n|SSH-2.0-x\r\n|5;a=b\r\nabcde\r\n0\r\nX: y\r\n\r\n|3;${LONG}${LONG}\r\n`,
)

const oftenThe = (first: string, rest: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(first) }, { weight: 2, arbitrary: fc.constantFrom(...rest) })

const anyMessage = fc
  .tuple(
    oftenThe('GET', METHODS),
    oftenThe('/healthz', TARGETS),
    oftenThe(' HTTP/1.1', VERSIONS),
    oftenThe('Host: a', HEADERS),
    fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }),
    oftenThe('\r\n', ['\n', '\r', '\r\r\n']),
    fc.constantFrom(...BODIES),
  )
  .map(([method, target, version, host, more, eol, body]) =>
    [`${method} ${target}${version}`, host, ...more, '', body].join(eol),
  )

/** Bytes that are changed or left out. */
const anyDamage = fc.record({
  at: fc.nat(400),
  byte: fc.oneof(
    fc.constantFrom('', '\0', '\r', '\n', ' ', ':', '\xff', '\x7f', '%'),
    fc.nat(255).map(code => String.fromCharCode(code)),
  ),
})

const damaged = (text: string, damages: readonly { at: number; byte: string }[]): string =>
  damages.reduce((bytes, { at: far, byte }) => {
    const at = far % (bytes.length + 1)
    return bytes.slice(0, at) + byte + bytes.slice(at + 1)
  }, text)

/** A valid request at the end, which closes the connection. */
const LAST = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** Bytes of one connection: up to four messages or stray bytes behind one another, some of them damaged. */
const anyBytes: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.array(fc.oneof({ weight: 4, arbitrary: anyMessage }, fc.constantFrom(...STRAY)), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.oneof(fc.constant([]), fc.array(anyDamage, { maxLength: 4 })),
    fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 60 })),
    fc.nat(19).map(chance => chance === 0),
  )
  .map(([messages, damages, cut, isAborted]) => {
    const bytes = damaged(messages.join(''), damages) + LAST
    return { pieces: cut === 0 ? [bytes] : [bytes.slice(0, cut), bytes.slice(cut)], isAborted }
  })
