// A chain of seals as a sealer leaves it in two stores: records, seals, day files, head and key.
import { createHash } from 'node:crypto'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { SEAL_HEAD_KEY, sealDayKey, sealKey } from '#core/contract/seals.ts'
import { type SignalContent, toHalves } from '#core/contract/signal.ts'
import { type PublicSeal, readSeals } from '#storage/seals/chain.ts'
import {
  dateOf,
  dayKeyOf,
  digestOfSeal,
  keyOfOrigin,
  lastSeqOf,
  NO_DIGEST,
  originOf,
  recordKey,
  SEAL_MS,
  type SealEvent,
  type SealRecord,
  sealOf,
  signSeal,
  toRecord,
} from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem, type Signer } from '#storage/signature.ts'
import type { MemoryStores } from '../books/publish-in-memory.ts'
import { signalContent } from '../signals/signals.ts'

const HEADERS = { content_type: 'text/plain' }

/** A signal as it is delivered; whatever a test does not say is that of `signalContent`. */
export function signalItem(seq: number, more: Partial<SignalContent> = {}): string {
  const { head, tail } = toHalves(signalContent(`s-${seq}`, more))
  return `${head}${seq}${tail}`
}

/** An event of a strategy, or of `*`. */
export const eventItem = (
  event: SealEvent['event'],
  alias: string | null,
  at: string,
  more: Partial<SealEvent> = {},
): string => JSON.stringify({ event, alias, by: 'operator:ada', why: null, at, ...more })

export type Chain = ReturnType<typeof createChain>

/** A chain that begins at an instant, ISO, with no seal yet. */
export function createChain(
  { store, privateStore }: MemoryStores,
  begin: string,
  { signer = createSigner(newPrivateKeyPem()), secret = 'secret' }: { signer?: Signer; secret?: string } = {},
) {
  const all: (PublicSeal & { readonly record: SealRecord })[] = []
  let origin = originOf(signer.keyId, begin)
  let toMs = Date.parse(begin)
  let signedBy = signer
  let entry = { seq: 0, sha256: NO_DIGEST }

  const writeDay = async (date: string): Promise<void> => {
    const own = all.filter(({ seal }) => dateOf(seal) === date).map(({ bytes }) => bytes)
    await store.create(sealDayKey(date), Buffer.concat(own), HEADERS)
  }

  /** Writes what a sealer would; `to` is ten minutes after the seal before unless it is named, ISO. */
  const seal = async (items: readonly string[] = [], to?: string) => {
    const last = all.at(-1)
    const fromMs = toMs
    toMs = to === undefined ? toMs + SEAL_MS : Date.parse(to)
    const date = dateOf({ toMs })
    const record = toRecord(
      {
        ...{ n: all.length + 1, origin, from: toIsoInstant(fromMs), to: toIsoInstant(toMs) },
        ...{ entry_seq: entry.seq, entry_sha256: entry.sha256, day_key: dayKeyOf(secret, date), events: 0 },
      },
      last === undefined ? 0 : lastSeqOf(last.record),
      items,
    )
    await privateStore.create(recordKey(record.n), Buffer.from(JSON.stringify(record)), HEADERS)
    const made = sealOf(record, last?.digest ?? NO_DIGEST)
    const bytes = signSeal(made, signedBy)
    if (last !== undefined && dateOf(last.seal) !== date) await writeDay(dateOf(last.seal))
    await store.create(keyOfOrigin(origin), Buffer.from(signedBy.publicKeyPem), HEADERS)
    await store.create(sealKey(record.n), bytes, HEADERS)
    await store.replace(SEAL_HEAD_KEY, bytes, HEADERS)
    const found = { seal: made, bytes, digest: digestOfSeal(bytes), record }
    all.push(found)
    return found
  }

  return {
    store,
    privateStore,
    signer,
    /** Everything that was sealed, oldest first. */
    all: all as readonly (typeof all)[number][],
    seal,
    /**
     * Seals every `everyMs` up to and with an instant, ISO; each has the items of `at`, by ISO instant, that are due since the
     * one before.
     */
    async sealUntil(until: string, at: Readonly<Record<string, readonly string[]>> = {}, everyMs = SEAL_MS) {
      const due = Object.entries(at).sort(([a], [b]) => (a < b ? -1 : 1))
      while (toMs < Date.parse(until)) {
        const to = Math.min(toMs + everyMs, Date.parse(until))
        const items: string[] = []
        while (due[0] !== undefined && Date.parse(due[0][0]) < to) items.push(...due.shift()![1])
        await seal(items, toIsoInstant(to))
      }
    },
    /** Goes on under another origin, and key if one is named; the next seal must say so with an item. */
    beginAnew(next = signedBy): string {
      signedBy = next
      origin = originOf(next.keyId, toIsoInstant(toMs))
      return origin
    },
    /** The next seals name this entry of the log of versions; `sha256` is base64. */
    nameEntry(seq: number, sha256: string): void {
      entry = { seq, sha256 }
    },
    read: (): Promise<readonly PublicSeal[]> => readSeals(key => store.read(key)),
    /** The digest of a seal as it is handed to an authority, hex. */
    anchored: (n: number): string =>
      createHash('sha256')
        .update(all[n - 1]!.bytes)
        .digest('hex'),
  }
}

/** The instant at some hours of a day, ISO. */
export const hourOf = (date: string, hours: number): string =>
  toIsoInstant(Date.parse(date) + (hours * DAY_MS) / 24)
