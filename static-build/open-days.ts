// Openings: what was sealed on a day becomes public when the day is published, and the live records of a snapshot follow from it.
import { isDeepStrictEqual } from 'node:util'
import pMap from 'p-map'
import { openingKey, SEALS_PREFIX, sealAnchorKey, sealKey } from '#core/contract/seals.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { readDocument } from '#storage/json-bytes.ts'
import { immutableHeaders, type ObjectStore, type Stores } from '#storage/object-store.ts'
import { linkFaults, openSeals, type PublicSeal, readSeals } from '#storage/seals/chain.ts'
import { liveRecordsOf } from '#storage/seals/live-records.ts'
import {
  dateOf,
  lastSeqOf,
  type Opening,
  type OpeningLine,
  openingText,
  parseBatch,
  parseItem,
  recordKey,
  type SealRecord,
  sealOf,
  sealRecord,
  toRecord,
} from '#storage/seals/seal.ts'
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
  const [fault] = linkFaults(seals)
  if (fault !== undefined) throw new Error(`${store.url}: ${fault}; restore the seals from a copy`)
  await assertOver(privateStore, (seals.at(-1)?.seal.n ?? 0) + 1, until)
  const done = new Set(await store.list(`${SEALS_PREFIX}openings/`))
  const dates = [...new Set(seals.map(({ seal }) => dateOf(seal)))]
  const due = dates.filter(date => date <= until && !done.has(openingKey(date)))
  if (due.length === 0) return
  const stamped = new Set(await store.list(`${SEALS_PREFIX}anchors/`))
  for (const date of due) {
    const opening = await openingOf(stores, seals, date, stamped)
    const bytes = new TextEncoder().encode(openingText(opening))
    await store.create(openingKey(date), bytes, immutableHeaders('application/jsonl; charset=utf-8'))
  }
}

/** A sealer that was killed between a record and its seal finishes it when it starts. */
async function assertOver(privateStore: ObjectStore, n: number, until: string): Promise<void> {
  const record = await readDocument(privateStore, recordKey(n), sealRecord)
  if (record == null || dateOf({ toMs: Date.parse(record.to) }) > until) return
  throw new Error(
    `seal ${n} has a record and is not published, so ${record.to.slice(0, 10)} cannot be opened: start \`highwater serve signals\`, ` +
      'which publishes it, and build again',
  )
}

async function openingOf(
  stores: Stores,
  seals: readonly PublicSeal[],
  date: string,
  stamped: ReadonlySet<string>,
): Promise<Opening> {
  const { store, privateStore } = stores
  const own = seals.filter(({ seal }) => dateOf(seal) === date)
  const records = await pMap(own, each => readRecord(privateStore, each), { concurrency: READS_AT_ONCE })
  const day_key = records.find(record => record !== null)?.day_key ?? ''
  const lines: OpeningLine[] = []
  let before: SealRecord | null = null // the first seal of a day always has a line, so that an opening can be read alone
  for (const [i, record] of records.entries()) {
    const { n } = own[i]!.seal
    if (record === null) lines.push({ n, lost: await whyLost(privateStore, seals, n) })
    else if (!isImplied(record, before, day_key)) {
      const { batch, items } = record
      lines.push({ n, ...(record.day_key === day_key ? {} : { day_key: record.day_key }), batch, items })
    }
    before = record
  }
  const proven = own.filter(({ seal }) => stamped.has(sealAnchorKey(seal.n)))
  const stamps = await pMap(proven, each => readStamp(store, each), { concurrency: READS_AT_ONCE })
  return { date, day_key, stamps: stamps.flat(), lines }
}

/** Whether a reader knows what is in a seal: nothing, after the number before. */
const isImplied = ({ items, batch, ...record }: SealRecord, before: SealRecord | null, day_key: string) =>
  items.length === 0 &&
  record.day_key === day_key &&
  record.origin === before?.origin &&
  parseBatch(batch).after === lastSeqOf(before)

async function readStamp(store: ObjectStore, { seal: { n }, bytes }: PublicSeal): Promise<Opening['stamps']> {
  const proof = await store.read(sealAnchorKey(n))
  const stamp = proof && readTimeStamp(proof, sha256(bytes))
  return stamp ? [{ n, ...stamp }] : []
}

/** The record of a seal, null if there is none. Throws if it is of another one. */
async function readRecord(privateStore: ObjectStore, { seal }: PublicSeal): Promise<SealRecord | null> {
  const record = await readDocument(privateStore, recordKey(seal.n), sealRecord)
  if (record === null || (record !== undefined && isRecordOf(record, seal))) return record
  throw new Error(
    `${privateStore.url}/${recordKey(seal.n)} is not the record of seal ${seal.n}: restore it from a copy`,
  )
}

const isRecordOf = (record: SealRecord, seal: PublicSeal['seal']): boolean =>
  isDeepStrictEqual(sealOf(record, seal.prev), seal) &&
  toRecord(record, parseBatch(record.batch).after, record.items).batch === record.batch

/** The reason in a later beginning that declares a seal lost. Throws if none does. */
async function whyLost(privateStore: ObjectStore, seals: readonly PublicSeal[], n: number): Promise<string> {
  const later = seals.filter(({ seal }, i) => seal.n > n && seal.origin !== seals[i - 1]?.seal.origin)
  for (const each of later) {
    for (const item of (await readRecord(privateStore, each))?.items ?? []) {
      const found = parseItem(item)
      if (found?.kind !== 'event' || found.event.event !== 'begin_anew') continue
      const { of = {}, why } = found.event
      if (Number(of.lost_from) <= n && n <= Number(of.lost_to)) return why ?? 'no reason'
    }
  }
  throw new Error(
    `seal ${n} cannot be opened, because ${privateStore.url}/${recordKey(n)} is missing: restore it from a copy; ` +
      'without one, `highwater seals begin-anew --reason TEXT` declares it lost in public',
  )
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
