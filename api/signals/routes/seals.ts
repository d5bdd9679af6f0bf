// Receipts: which seal a signal of the client is in, and what shows it.
import { z } from 'zod'
import { canonicalUrl, parseQuery, wholeNumberParameter } from '#core/contract/parameters.ts'
import { named, text, type ValueOf, whole } from '#core/contract/payloads/field.ts'
import { SEALS_PREFIX } from '#core/contract/seals.ts'
import type { Identity } from '#signals/clients/clients.ts'
import { BLOCK_SIGNALS, newestVisible, readVisible, type Viewer } from '#signals/log/read-log.ts'
import { askRedis } from '#signals/redis/connect.ts'
import { SEALS } from '#signals/redis/keys.ts'
import { batchSalt, itemSalt, lastSeqOf, readRecord, recordKey, seqOf } from '#storage/seals/seal.ts'
import { type Exchange, queryOf, sendEnveloped } from '../../service/exchange.ts'
import { routesOf, type ServedParts } from '../exchange.ts'
import { pageParameters } from './signals.ts'

const PATH = '/v1/signals/seals'

const query = {
  since: pageParameters('Rows').since,
  limit: wholeNumberParameter('Rows of a page; `links.next` leads to the next one.', 1, BLOCK_SIGNALS, 100),
}

const receipt = named('Receipt', {
  seq: whole('Number of the signal.'),
  n: whole('Number of its seal.'),
  r: text(
    'Salt of the signal, base64: the hex SHA-256 of it and the bytes of the signal is a line of the batch.',
  ),
  s_n: text('Salt of the seal, base64: the SHA-256 of it and the SHA-256 of the batch is the commitment.'),
  batch: text('What was sealed: a digest for each signal and event.'),
})

export const SEAL_ROUTES = routesOf('account', [
  {
    id: 'seals',
    path: PATH,
    title: 'Receipts of sealed signals',
    about:
      'Every sealed signal after `since` that the client sees, ascending by seq, with what shows that it is in its seal; it ends ' +
      'with the last one that is sealed. `links.seals` is where the service says that the seals are, `v1/seals/<n>`: read them at ' +
      'the public address that you know, or compare the newest one with it.',
    query,
    data: z.array(receipt),
    example: { path: `${PATH}?limit=1&since=1` },
    handler: receipts,
  },
])

async function receipts(c: Exchange, parts: ServedParts, { client }: Identity): Promise<Response> {
  const asked = parseQuery(query, queryOf(c))
  const rows: ValueOf<typeof receipt>[] = []
  for await (const row of readReceipts(parts, client, asked.since)) if (rows.push(row) === asked.limit) break
  const last_seq = rows.at(-1)?.seq ?? asked.since
  const { historyBaseUrl: history } = parts.settings
  const links = {
    self: canonicalUrl(PATH, query, asked),
    history: '/v1/signals/history',
    ...(history === null ? {} : { seals: `${history}/${SEALS_PREFIX}` }),
    ...(rows.length < asked.limit ? {} : { next: canonicalUrl(PATH, query, { ...asked, since: last_seq }) }),
  }
  return sendEnveloped(c, rows, links, { count: rows.length, last_seq })
}

async function* readReceipts(parts: ServedParts, client: Viewer, since: number) {
  let seal: Awaited<ReturnType<typeof readSealOf>> = null
  for await (const block of readVisible(parts.redis, client, since, await newestVisible(parts.redis, client)))
    for (const { seq } of block) {
      if (seal === null || seq > seal.last) seal = await readSealOf(seq, parts)
      if (seal === null) return
      const r = seal.salts.get(seq)
      if (r !== undefined) yield { seq, n: seal.n, r, s_n: seal.s_n, batch: seal.batch }
    }
}

/** The first seal that ends with this signal or a later one; null if there is none yet. */
async function readSealOf(seq: number, { redis, privateStore }: ServedParts) {
  const [n] = await askRedis(() => redis.zrangebyscore(SEALS, seq, '+inf', 'LIMIT', 0, 1))
  if (n === undefined) return null
  const record = await readRecord(privateStore, Number(n))
  if (record === null)
    throw new Error(`${recordKey(Number(n))} is missing or damaged: restore the private store from a copy`)
  const { day_key, batch, items } = record
  const salts = new Map(items.map((item, i) => [seqOf(item), itemSalt(day_key, item, record.n, i)]))
  return { n: record.n, s_n: batchSalt(day_key, record.n), batch, salts, last: lastSeqOf(record) }
}
