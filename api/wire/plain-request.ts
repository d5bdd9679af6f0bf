// The requests that nearly every client sends: a canonical address, a few headers, nothing behind them.
import type { IncomingMessage } from 'node:http'
import { acceptsDelta } from '../http/negotiate-coding.ts'

/** A GET without a body, of which nothing but these decides what is answered. */
export type PlainRequest = {
  /** Path and query as they were sent. */
  readonly path: string
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly requestId: string | undefined
}

/** What the headers of a plain request say, the same for every address. */
type PlainHeaders = Omit<PlainRequest, 'path'>

/** A longer address may be one that is refused. */
const LONGEST_PATH = 512

/** A longer request is left to the parser that has limits for it. */
const LONGEST_REQUEST = 2048

/** A number below 256, as it stands in an address. */
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'

/** A name whose last part is no number, or an address of four bytes, maybe with a port. Any other is for the app to judge. */
const PLAIN_HOST = new RegExp(
  `^(?:(?:[\\w-]+\\.)*[A-Za-z_][\\w-]*|(?:${BYTE}\\.){3}${BYTE})(?::(?:\\d{1,4}|[1-5]\\d{4}))?$`,
)

/** Headers that change what is answered, or what comes after the request: whoever sends one is no plain client. */
const NOT_PLAIN = new Set([
  ...['origin', 'content-length', 'transfer-encoding', 'trailer', 'expect', 'upgrade', 'http2-settings'],
  ...['access-control-request-method', 'access-control-request-headers', 'proxy-connection'],
])

/** The headers that are read. Node joins or drops those that come twice, each in its own way: it may. */
const READ = new Set(['host', 'connection', 'accept-encoding', 'if-none-match', 'x-request-id'])

const METHOD = 'GET '
const PROTOCOL = ' HTTP/1.1'

/** A name and a value of visible ASCII: what RFC 9110 allows beyond that is left to Node's parser. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+):([\t -~]*)$/

/** Clients send the same lines again and again; a memo of this size serves them all and cannot grow. */
const MEMO_SIZE = 256

/** Reads what came on a connection in one piece; null where it is anything but one plain request, whole. */
export type ReadPlain = (chunk: Buffer) => PlainRequest | null

/** A reader with a memory: a header block that came before is not looked at again. */
export function createPlainReader(): ReadPlain {
  const memo = new Map<string, PlainHeaders | null>()
  const headersOf = (block: string): PlainHeaders | null => {
    const known = memo.get(block)
    if (known !== undefined) return known
    const headers = readHeaders(block)
    if (memo.size >= MEMO_SIZE) memo.clear()
    memo.set(block, headers)
    return headers
  }
  return chunk => {
    if (chunk.length > LONGEST_REQUEST) return null
    const text = chunk.toString('latin1')
    const lineEnd = text.indexOf('\r\n')
    if (!text.startsWith(METHOD) || !text.startsWith(PROTOCOL, lineEnd - PROTOCOL.length)) return null
    const path = text.slice(METHOD.length, lineEnd - PROTOCOL.length)
    if (!isPlainPath(path)) return null
    const headers = headersOf(text.slice(lineEnd))
    return headers === null ? null : { path, ...headers }
  }
}

/** The same of a request that Node has parsed. */
export function toPlainRequest({ method, url = '', headers }: IncomingMessage): PlainRequest | null {
  if (method !== 'GET' || !isPlainPath(url)) return null
  for (const name of NOT_PLAIN) if (headers[name] !== undefined) return null
  const acceptEncoding = headers['accept-encoding']
  if (!PLAIN_HOST.test(headers.host ?? '') || acceptsDelta(acceptEncoding)) return null
  const requestId = headers['x-request-id']
  return {
    ...{ path: url, acceptEncoding, ifNoneMatch: headers['if-none-match'] },
    requestId: Array.isArray(requestId) ? requestId[0] : requestId,
  }
}

const isPlainPath = (path: string): boolean =>
  path.startsWith('/') && path.length <= LONGEST_PATH && !path.includes(' ')

/** From the end of the request line to the end of all: `\r\nHost: a\r\n\r\n`. */
function readHeaders(block: string): PlainHeaders | null {
  if (!block.endsWith('\r\n\r\n')) return null
  const fields = readFields(block.slice(2, -4).split('\r\n'))
  if (fields === null || !PLAIN_HOST.test(fields.get('host') ?? '')) return null
  const acceptEncoding = fields.get('accept-encoding')
  const connection = fields.get('connection')?.toLowerCase() ?? 'keep-alive'
  if (connection !== 'keep-alive' || acceptsDelta(acceptEncoding)) return null
  return {
    acceptEncoding,
    ifNoneMatch: fields.get('if-none-match'),
    requestId: fields.get('x-request-id'),
  }
}

/** The fields that are read; null where a line is malformed, one of them comes twice, or one is not plain. */
function readFields(lines: readonly string[]): ReadonlyMap<string, string> | null {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? []
    const lower = name.toLowerCase()
    if (lower === '' || NOT_PLAIN.has(lower) || fields.has(lower)) return null
    if (READ.has(lower)) fields.set(lower, value.trim())
  }
  return fields
}
