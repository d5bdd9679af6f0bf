// What may come over a wire that is hardly HTTP, or just so: messages put together of odd parts, and then damaged.
import fc from 'fast-check'

/** What is sent over one connection, in pieces; `isAborted`: the sender goes away without reading. */
export type Sent = { readonly pieces: readonly string[]; readonly isAborted: boolean }

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

/** A byte that is changed, put in or left out. */
const anyDamage = fc.record({
  at: fc.nat(400),
  kind: fc.constantFrom('change', 'insert', 'remove', 'end'),
  byte: fc.oneof(fc.constantFrom('\0', '\r', '\n', ' ', ':', '\xff', '\x7f', '%'), fc.nat(255).map(toByte)),
})

function damaged(text: string, damages: readonly { at: number; kind: string; byte: string }[]): string {
  return damages.reduce((bytes, { at: far, kind, byte }) => {
    const at = far % (bytes.length + 1)
    if (kind === 'end') return bytes.slice(0, at)
    return bytes.slice(0, at) + (kind === 'remove' ? '' : byte) + bytes.slice(kind === 'insert' ? at : at + 1)
  }, text)
}

function toByte(code: number): string {
  return String.fromCharCode(code)
}

/** A valid request at the end, which closes the connection. */
const LAST = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** Bytes of one connection: up to four messages or stray bytes behind one another, some of them damaged. */
export const anyBytes: fc.Arbitrary<Sent> = fc
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
