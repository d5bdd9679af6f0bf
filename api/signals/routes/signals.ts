// The log of signals: newest, pull, schema, head, and the account of deliveries.
import { z } from 'zod'
import { deliveryAccount } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import {
  canonicalUrl,
  ID_PATTERN,
  once,
  type Parameter,
  parseQuery,
  type ValuesOf,
  wholeNumberParameter,
  wordParameter,
} from '#core/contract/parameters.ts'
import { named, text, type ValueOf } from '#core/contract/payloads/field.ts'
import { SIGNAL_FIELDS, signal } from '#core/contract/signal.ts'
import { toCsvHeader, toCsvRow } from '#core/dataset/render/csv.ts'
import type { Identity } from '#signals/clients/clients.ts'
import { type LoggedSignal, newestVisible, readHead, readSignal, readVisible } from '#signals/log/read-log.ts'
import { accountFor, type Expired, MOST_ACCOUNTED, readExpired, viewerOf } from '#signals/outbox/resend.ts'
import {
  csvMedia,
  type Exchange,
  JSON_MEDIA,
  keyedMeta,
  queryOf,
  sendBytes,
  sendEnveloped,
} from '../../service/exchange.ts'
import { streamBody } from '../../service/stream-body.ts'
import { routesOf, type ServedParts, sendPublished } from '../exchange.ts'

const LATEST = '/v1/signals/latest'
const HISTORY = '/v1/signals/history'
const SCHEMA = '/v1/signals/schema'
const HEAD = '/v1/signals/head'
const ACCOUNT = '/v1/signals/account'

/** The largest `limit`; without one everything is returned. */
export const MOST_PER_PAGE = 10_000

/** `since` and `limit` of a list ascending by number. */
export const pageParameters = (rows: 'Rows' | 'Deployments') => ({
  since: wholeNumberParameter(
    'The highest number that was processed: the answer follows it. 0 gives everything.',
    0,
    Number.MAX_SAFE_INTEGER,
    0,
  ),
  limit: wholeNumberParameter(
    `${rows} of a page; \`links.next\` leads to the next one. Without it everything is answered at once.`,
    1,
    MOST_PER_PAGE,
    null,
  ),
})

export const formatOfRows = wordParameter('CSV answers the rows alone, without the envelope.', [
  'json',
  'csv',
])

const seqParameter = (about: string) => wholeNumberParameter(about, 1, Number.MAX_SAFE_INTEGER, null)

const endpointParameter: Parameter<string | null> = {
  about:
    'One endpoint alone, and what it is to be sent by its filter. Without it: all endpoints of the client together.',
  schema: { type: 'string', pattern: ID_PATTERN.source },
  isLookedUp: true,
  initial: null,
  parse: once(value => ({ value })),
  print: String,
}

const historyQuery = { ...pageParameters('Rows'), format: formatOfRows, endpoint: endpointParameter }

type HistoryQuery = ValuesOf<typeof historyQuery>

const accountQuery = {
  endpoint: endpointParameter,
  from: seqParameter(
    `First number. Without it: as many before \`to\` as one answer spans, ${MOST_ACCOUNTED}.`,
  ),
  to: seqParameter('Last number. Without it: that of the newest signal that the client sees.'),
}

const logHead = named('LogHead', {
  seq: z.int().min(0).describe('Number of the newest signal that this client sees, 0 where there is none.'),
  log_seq: z.int().min(0).describe('The same as `seq`; kept for clients of earlier releases.'),
  epoch: text('Names this history of the log. When it changes, pull everything again.'),
  server_time: text('UTC instant, ISO 8601 with milliseconds.'),
})

export const LOG_ROUTES = routesOf('account', [
  {
    id: 'latest',
    path: LATEST,
    title: 'Newest signal',
    about: 'The last row of the history.',
    data: signal,
    refusals: ['not_found'],
    handler: async (c, parts, { client }) => {
      const seq = await newestVisible(parts.redis, client)
      const found = seq === 0 ? null : await readSignal(parts.redis, seq)
      if (found === null) throw new ApiError('not_found', 'no signal yet')
      return sendPublished(c, encoder.encode(found.body), { self: LATEST, history: HISTORY }, {}, LIVE)
    },
  },
  {
    id: 'history',
    path: HISTORY,
    title: 'Signals since a number',
    about: 'Every signal after `since` of the aliases that the client is entitled to now, ascending by seq.',
    query: historyQuery,
    formats: ['json', 'csv'],
    data: z.array(signal),
    refusals: ['not_found'],
    example: { path: `${HISTORY}?limit=2&since=1` },
    handler: history,
  },
  {
    id: 'schema',
    path: SCHEMA,
    title: 'Schema of a signal',
    about: 'The JSON Schema of a signal.',
    data: z
      .looseObject({
        $schema: text('The dialect of JSON Schema.'),
        $id: text('Where this schema is served.'),
        type: z.literal('object').describe('A signal is an object.'),
      })
      .meta({ id: 'SignalSchema', additionalProperties: true }), // a schema has more keywords than these
    handler: (c, parts) =>
      sendEnveloped(c, parts.documents.signalSchema(), { self: SCHEMA, history: HISTORY }),
  },
  {
    id: 'head',
    path: HEAD,
    title: 'Where the log stands',
    about: 'Small enough to be polled: silence and a lost connection are two things.',
    data: logHead,
    handler: async (c, parts, { client }) => {
      const { redis, clock } = parts
      const [{ epoch }, seq] = await Promise.all([readHead(redis), newestVisible(redis, client)])
      const server_time = new Date(clock.now()).toISOString()
      const data: ValueOf<typeof logHead> = { seq, log_seq: seq, epoch, server_time }
      return sendEnveloped(c, data, { self: HEAD, history: HISTORY })
    },
  },
  {
    id: 'account',
    path: ACCOUNT,
    title: 'Account of deliveries',
    about:
      'What became of every signal from one number to another: how many the client sees, how many its endpoints have ' +
      'acknowledged, which ones not, and a digest that it can compute of what it has.',
    query: accountQuery,
    data: deliveryAccount,
    refusals: ['not_found'],
    example: { path: `${ACCOUNT}?from=1&to=4` },
    handler: async (c, parts, { client }) => {
      const query = parseQuery(accountQuery, queryOf(c))
      const account = await accountFor(parts.redis, client.id, query.from, query.to, query.endpoint)
      const self = canonicalUrl(ACCOUNT, accountQuery, query)
      return sendEnveloped(c, account, { self, history: HISTORY })
    },
  },
])

/** What distinguishes signals from the histories, which are backtested or reported. */
const LIVE = { basis: 'live' } as const

/** The pull: stored bytes between brackets, sent in blocks. Signals that are fired meanwhile are in the next pull. */
async function history(c: Exchange, parts: ServedParts, { client }: Identity): Promise<Response> {
  const query = parseQuery(historyQuery, queryOf(c))
  const viewer = await viewerOf(parts.redis, client, query.endpoint)
  const until = await newestVisible(parts.redis, viewer)
  const rows = takeRows(readVisible(parts.redis, viewer, query.since, until), query.limit)
  return query.format === 'csv'
    ? sendText(c, parts, csvText(rows), csvMedia(`signals-${client.id}-since-${query.since}`))
    : sendText(
        c,
        parts,
        jsonText(c, rows, query, until, block => readExpired(parts.redis, client.id, query.endpoint, block)),
        JSON_MEDIA,
      )
}

type Rows = AsyncGenerator<readonly LoggedSignal[], void>

type Pieces = AsyncGenerator<string, void>

async function* takeRows(blocks: Rows, limit: number | null): Rows {
  let left = limit ?? Number.POSITIVE_INFINITY
  for await (const block of blocks) {
    yield block.slice(0, left)
    left -= block.length
    if (left <= 0) return
  }
}

async function* jsonText(
  c: Exchange,
  blocks: Rows,
  query: HistoryQuery,
  until: number,
  expiredOf: (block: readonly LoggedSignal[]) => Promise<readonly Expired[]>,
): Pieces {
  const expired: Expired[] = []
  let before = '{"data":['
  let count = 0
  let lastSeq = query.since
  for await (const block of blocks) {
    yield before + block.map(({ body }) => body).join(',')
    before = ','
    count += block.length
    lastSeq = block.at(-1)!.seq
    expired.push(...(await expiredOf(block)))
  }
  const meta = { ...keyedMeta(c), ...LIVE, count, last_seq: lastSeq, ...(expired.length > 0 && { expired }) }
  const isFull = count === query.limit && lastSeq < until
  const links = {
    self: canonicalUrl(HISTORY, historyQuery, query),
    ...{ history: HISTORY, latest: LATEST },
    ...(isFull ? { next: canonicalUrl(HISTORY, historyQuery, { ...query, since: lastSeq }) } : {}),
  }
  yield `${count === 0 ? before : ''}],"meta":${JSON.stringify(meta)},"links":${JSON.stringify(links)}}`
}

/** Throws if the text of a row is not a signal. */
async function* csvText(blocks: Rows): Pieces {
  yield toCsvHeader(SIGNAL_FIELDS)
  for await (const block of blocks)
    yield block.map(({ body }) => toCsvRow(SIGNAL_FIELDS, signal.parse(JSON.parse(body)))).join('')
}

/** Shorter texts are complete before the first byte is sent, so that errors still get the envelope. */
export const MOST_WHOLE_LENGTH = 1 << 18

const encoder = new TextEncoder()

/** Sends a text that comes in pieces, as fast as it is read: one piece at a time is in memory. */
async function sendText(
  c: Exchange,
  { onError }: ServedParts,
  pieces: Pieces,
  media: Readonly<Record<string, string>>,
): Promise<Response> {
  let text = ''
  while (text.length < MOST_WHOLE_LENGTH) {
    const next = await pieces.next()
    if (next.done) return sendBytes(c, encoder.encode(text), media)
    text += next.value
  }
  const { stream } = await streamBody(encodePieces(text, pieces), { onError })
  return new Response(stream, { headers: { ...c.get('service').headers(c), ...media } })
}

async function* encodePieces(first: string, pieces: Pieces): AsyncGenerator<Uint8Array, void> {
  yield encoder.encode(first)
  for await (const piece of pieces) yield encoder.encode(piece)
}
