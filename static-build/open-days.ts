// Openings: what was sealed on a day becomes public when the day is published, and the live records of a snapshot follow from it.
import pMap from 'p-map'
import { openingKey, SEALS_PREFIX, sealAnchorKey, sealKey } from '#core/contract/seals.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { immutableHeaders, type ObjectStore, type Stores } from '#storage/object-store.ts'
import { chainFaults, openSeals, type PublicSeal, readSeals, startsOf } from '#storage/seals/chain.ts'
import { liveRecordsOf } from '#storage/seals/live-records.ts'
import * as format from '#storage/seals/seal.ts'
import { readTimeStamp } from '#storage/time-stamps.ts'

const READS_AT_ONCE = 32

/**
 * Publishes the opening of every day up to and with `until` that has seals and no opening yet. Throws if a seal cannot be
 * opened, or is not published yet: an opening is written once, so it must have everything.
 */
export async function openDays(stores: Stores, until: string): Promise<void> {
  const { store, privateStore } = stores
  if (!(await store.has(sealKey(1)))) return
  const seals = await readSeals(key => store.read(key))
  const [fault] = chainFaults(seals)
  if (fault !== undefined) throw new Error(`${store.url}: ${fault}; restore the seals from a copy`)
  await assertOver(privateStore, (seals.at(-1)?.seal.n ?? 0) + 1, until)
  const done = new Set(await store.list(`${SEALS_PREFIX}openings/`))
  const days = Map.groupBy(seals, ({ seal }) => format.dateOf(seal))
  const due = [...days].filter(([date]) => date <= until && !done.has(openingKey(date)))
  if (due.length === 0) return
  const stamped = new Set(await store.list(`${SEALS_PREFIX}anchors/`))
  const starts = await pMap(startsOf(seals), each => readOwn(privateStore, each))
  const begun = starts.flatMap(start =>
    format.beginningsOf(start?.items.map(item => ({ n: start.n, item })) ?? []),
  )
  for (const [date, own] of due) {
    const opening = await openingOf(stores, own, date, stamped, begun)
    const bytes = new TextEncoder().encode(format.openingText(opening))
    await store.create(openingKey(date), bytes, immutableHeaders('application/jsonl; charset=utf-8'))
  }
}

/** A sealer that was killed between a record and its seal finishes it when it starts. */
async function assertOver(privateStore: ObjectStore, n: number, until: string): Promise<void> {
  const record = await format.readRecord(privateStore, n)
  if (record === null || format.dateOf({ toMs: Date.parse(record.to) }) > until) return
  throw new Error(
    `seal ${n} has a record and is not published, so ${record.to.slice(0, 10)} cannot be opened: start \`highwater serve signals\`, ` +
      'which publishes it, and build again',
  )
}

async function openingOf(
  { store, privateStore }: Stores,
  own: readonly PublicSeal[],
  date: string,
  stamped: ReadonlySet<string>,
  begun: ReturnType<typeof format.beginningsOf>,
): Promise<format.Opening> {
  const records = await pMap(own, each => readOwn(privateStore, each), { concurrency: READS_AT_ONCE })
  const day_key = records.find(record => record !== null)?.day_key ?? ''
  const lines: format.OpeningLine[] = []
  let before: format.SealRecord | null = null // the first seal of a day always has a line, so that an opening can be read alone
  for (const [i, record] of records.entries()) {
    const { n } = own[i]!.seal
    const lost = format.lossOf(n, begun)
    if (lost !== undefined) lines.push({ n, lost: lost.why })
    else if (record === null)
      throw new Error(
        `seal ${n} cannot be opened, because ${privateStore.url}/${format.recordKey(n)} is missing or of another seal: restore it from a ` +
          'copy; without one, `highwater seals begin-anew --reason TEXT` declares it lost in public',
      )
    else if (!isImplied(record, before, day_key)) {
      const { batch, items } = record
      lines.push({ n, ...(record.day_key === day_key ? {} : { day_key: record.day_key }), batch, items })
    }
    before = lost === undefined ? record : null
  }
  const proven = own.filter(({ seal }) => stamped.has(sealAnchorKey(seal.n)))
  const stamps = await pMap(proven, each => readStamp(store, each), { concurrency: READS_AT_ONCE })
  return { date, day_key, stamps: stamps.flat(), lines }
}

/** Whether a reader knows what is in a seal: nothing, after the number before. */
const isImplied = (
  { items, batch, ...record }: format.SealRecord,
  before: format.SealRecord | null,
  day_key: string,
) =>
  items.length === 0 &&
  record.day_key === day_key &&
  record.origin === before?.origin &&
  format.parseBatch(batch)?.after === format.lastSeqOf(before)

async function readStamp(
  store: ObjectStore,
  { seal: { n }, bytes }: PublicSeal,
): Promise<format.Opening['stamps']> {
  const proof = await store.read(sealAnchorKey(n))
  const stamp = proof && readTimeStamp(proof, sha256(bytes))
  return stamp ? [{ n, ...stamp }] : []
}

/** The record of a seal, null if there is none that fits. */
async function readOwn(privateStore: ObjectStore, seal: PublicSeal): Promise<format.SealRecord | null> {
  const record = await format.readRecord(privateStore, seal.seal.n)
  return record && format.isRecordOf(record, seal) ? record : null
}

/**
 * A snapshot with what was opened of it up to the end of its window; the same one if nothing was. `barMinutes` is the length of the
 * bars of a strategy, null without bars. Throws if an opening does not fit what was sealed.
 */
export async function withLiveRecords(
  store: ObjectStore,
  snapshot: Snapshot,
  barMinutes: (id: string) => number | null,
): Promise<Snapshot> {
  const { dataset, strategies } = snapshot
  if (dataset.window.to === null || !(await store.has(sealKey(1)))) return snapshot
  const read = (key: string) => store.read(key)
  const all = await readSeals(read)
  const opened = await openSeals(read, all, dataset.window.to)
  if (opened.faults.length > 0)
    throw new Error(
      `${store.url}: ${opened.faults[0]} (one of ${opened.faults.length}): restore seals and openings from a copy`,
    )
  if (opened.openedTo === null) return snapshot // it may have been built before the first seal
  const ids = strategies.map(({ id }) => ({ id, bar_minutes: barMinutes(id) }))
  const { seals, live } = liveRecordsOf(opened, all, ids)
  const own = strategies.map(each => ({ ...each, live: live.get(each.id) ?? null }))
  return { ...snapshot, dataset: { ...dataset, seals }, strategies: own }
}
