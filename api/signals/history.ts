// The pull of signals: what is stored is put between brackets as it is, block by block, and never held as a whole.
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { INTERNAL_ERROR_MESSAGE } from '#core/contract/errors.ts'
import type { Links } from '#core/contract/register.ts'
import {
  HISTORY_PATH,
  type HistoryQuery,
  historyPath,
  parseHistoryQuery,
} from '#core/contract/signal-query.ts'
import { SIGNAL_CSV_HEADER, toSignalRow } from '#core/dataset/render/signal-csv.ts'
import type { Client } from '#signals/clients/client.ts'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import { newestVisible, readVisible } from '#signals/log/visible.ts'
import {
  answerHeaders,
  type Exchange,
  JSON_MEDIA,
  type KeyedHandler,
  metaOf,
  type SignalsParts,
  sendBytes,
} from './exchange.ts'

/** `/v1/signals/history`. What is fired while it is answered is in the next pull. */
export const history: KeyedHandler = async (c, parts, { client }) => {
  const query = parseHistoryQuery(new URL(c.req.url).searchParams)
  const until = await newestVisible(parts.redis, client)
  const rows = takeRows(readVisible(parts.redis, client, query.since, until), query.limit)
  return query.format === 'csv'
    ? sendText(parts, csvText(rows), csvMedia(client, query))
    : sendText(parts, jsonText(c, parts, rows, query, until), JSON_MEDIA)
}

type Rows = AsyncGenerator<readonly LoggedSignal[], void>

/** The first `limit` rows. */
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
  parts: SignalsParts,
  blocks: Rows,
  query: HistoryQuery,
  until: number,
): AsyncGenerator<string, void> {
  let before = '{"data":['
  let count = 0
  let lastSeq = query.since
  for await (const block of blocks) {
    yield before + block.map(({ body }) => body).join(',')
    before = ','
    count += block.length
    lastSeq = block.at(-1)!.seq
  }
  const meta = { ...metaOf(c, parts), count, last_seq: lastSeq }
  const links = linksOf(query, count === query.limit && lastSeq < until ? lastSeq : null)
  yield `${count === 0 ? before : ''}],"meta":${JSON.stringify(meta)},"links":${JSON.stringify(links)}}`
}

/** A page that is full leads to the next one, which begins after `last`. */
const linksOf = (query: HistoryQuery, last: number | null): Links => ({
  self: historyPath(query),
  history: HISTORY_PATH,
  latest: '/v1/signals/latest',
  ...(last === null ? {} : { next: historyPath({ ...query, since: last }) }),
})

async function* csvText(blocks: Rows): AsyncGenerator<string, void> {
  yield SIGNAL_CSV_HEADER
  for await (const block of blocks) yield block.map(({ body }) => toSignalRow(body)).join('')
}

const csvMedia = ({ id }: Client, { since }: HistoryQuery): Record<string, string> => ({
  'content-type': MEDIA_TYPES.csv,
  'content-disposition': `attachment; filename="signals-${id}-since-${since}.csv"`,
})

/** A text of less is made whole before its first byte is sent, so that what fails is still answered in the envelope. */
const MOST_WHOLE_LENGTH = 1 << 18

const encoder = new TextEncoder()

/**
 * Sends a text that comes in pieces, as fast as it is read and no faster: one piece at a time is held. Where it fails on
 * the way the connection is cut, because a status cannot be taken back and half an answer must not look whole.
 */
export async function sendText(
  parts: SignalsParts,
  pieces: AsyncGenerator<string, void>,
  media: Readonly<Record<string, string>>,
): Promise<Response> {
  let text = ''
  while (text.length < MOST_WHOLE_LENGTH) {
    const next = await pieces.next()
    if (next.done) return sendBytes(parts, encoder.encode(text), media)
    text += next.value
  }
  return new Response(toStream(text, pieces, parts.onError), {
    headers: { ...answerHeaders(parts), ...media },
  })
}

function toStream(
  first: string,
  pieces: AsyncGenerator<string, void>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let waiting: string | null = first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = waiting === null ? await pieces.next() : { done: false, value: waiting }
          waiting = null
          if (next.done) controller.close()
          else controller.enqueue(encoder.encode(next.value ?? ''))
        } catch (error) {
          onError(error)
          controller.error(new Error(INTERNAL_ERROR_MESSAGE))
        }
      },
      async cancel() {
        await pieces.return()
      },
    },
    { highWaterMark: 0 }, // nothing is read ahead, and nothing at all for a HEAD
  )
}
