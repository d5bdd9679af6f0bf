// Receipts of signals, checked with the public chain of seals, as docs/subscribing.md describes it.
import type { Receipt } from './generated/signals.ts'
import { HighwaterError } from './highwater-error.ts'
import { fromBase64, sha256, textOf, toBase64, toHex } from './requests.ts'
import { isSignedBy } from './verify.ts'

/** What is known of the chain. Keep it: the chain of tomorrow must continue that of today. */
export type SealState = {
  /** Signals up to this number are checked. */
  readonly checked_seq: number
  /** The newest seal that was seen, with the SHA-256 of its bytes, and the key of first use. */
  readonly head?: Readonly<Record<'digest' | 'origin' | 'key', string>> & { readonly n: number }
  /** The first signal without a receipt, and the newest seal when that was found. */
  readonly waiting?: { readonly seq: number; readonly n: number }
  /** What was wrong: every further check fails with it. */
  readonly fault?: string
}

/** Reads an object by its name below `v1/seals/`; null if there is none. */
export type ReadSeals = (name: string) => Promise<Uint8Array | null>

const MOST_SEALS = 6 // that may pass before a signal is in one of them
const OTHER = 'another chain is shown to you than before'
const LEFT_OUT = 'it was left out, or is no longer one of yours'

/**
 * Checks that each receipt is of the signal as it was delivered, that its batch is in its seal, and that the chain continues from the
 * head in `state`. `delivered` has the exact text of signals by their numbers. Throws `HighwaterError` with `seal_mismatch`, or with
 * `not_published` if nothing is sealed yet.
 */
export async function checkSeals(
  receipts: readonly Receipt[],
  delivered: ReadonlyMap<number, string>,
  read: ReadSeals,
  state: SealState,
): Promise<SealState> {
  if (state.fault !== undefined) fail(state.fault)
  const { head: known, checked_seq: since, waiting: before } = state
  const missing = known ? 'seal_mismatch' : 'not_published'
  const get = async (name: string) =>
    (await read(name)) ?? fail(`${name} of the seals is missing: ${OTHER}`, missing)
  let head = await parse(await get('head'))
  if (known && head.n < known.n) head = await parse(await get(nameOf(known.n))) // a cache may have an old head
  const shown = receipts.filter(({ n }) => n <= head.n) // a later one is published in a moment
  const seals = await readChain(read, head, known ?? head, Math.min(head.n, ...shown.map(({ n }) => n)))
  if (known && seals.get(known.n)?.digest !== known.digest)
    fail(`seal ${known.n} is not the one that you saw: ${OTHER}`)
  const key = known?.key ?? textOf(await get(`keys/${head.origin.split('/')[1]}.pem`))
  if (!(await isSignedBy(key, new TextEncoder().encode(head.text), fromBase64(head.signature).slice(4))))
    fail(`seal ${head.n} is not signed by the key that you know: ${OTHER}`)
  for (const each of shown) await checkReceipt(each, delivered.get(each.seq), seals.get(each.n)?.commitment)
  const checked_seq = shown.at(-1)?.seq ?? since
  const sealed = receipts.map(({ seq }) => seq)
  const seq = Math.min(...[...delivered.keys()].filter(each => each > since && !sealed.includes(each)))
  const waiting = before?.seq === seq ? before : { seq, n: head.n }
  if (seq < checked_seq || head.n > waiting.n + MOST_SEALS)
    fail(`signal ${seq} was delivered to you, and no seal up to ${head.n} has it: ${LEFT_OUT}`)
  const { n, digest, origin } = head
  const next = { checked_seq, head: { n, digest, origin, key } }
  return Number.isFinite(seq) ? { ...next, waiting } : next
}

export function fail(sentence: string, code: 'seal_mismatch' | 'not_published' = 'seal_mismatch'): never {
  throw new HighwaterError(code, sentence)
}

const nameOf = (n: number): string => String(n).padStart(9, '0')

const SHAPE =
  /^(?<text>highwater\/seal\/v1\n(?<origin>\S+)\n(?<n>\d{9})\n(?<begin>(?<day>\d{4}-\d\d-\d\d)\S{10}) (?<end>\S{20})\n(?<commitment>\S{44})\n(?<prev>\S{44})\n\d{9} \S{44}\n)\n— \S+ (?<signature>\S+)\n$/

type Field = 'text' | 'origin' | 'n' | 'begin' | 'day' | 'end' | 'commitment' | 'prev' | 'signature'

async function parse(bytes: Uint8Array | string) {
  const seal = typeof bytes === 'string' ? bytes : textOf(bytes)
  const groups = SHAPE.exec(seal)?.groups ?? fail('a published seal has another form: it was altered')
  const fields = groups as Record<Field, string> // the names in SHAPE
  return { ...fields, n: Number(fields.n), digest: toBase64(await sha256(seal)) }
}

type Seal = Awaited<ReturnType<typeof parse>>

/**
 * The seals from the head back to the known one; if an earlier one is needed, the first, back to it and over whole days, so that no
 * read says in which seal a signal is. Those of a day that is over are in one file.
 */
async function readChain(read: ReadSeals, head: Seal, known: Pick<Seal, 'n' | 'origin'>, first: number) {
  const [seals, shown, today] = [new Map([[head.n, head]]), new Map<number, string>(), head.end.slice(0, 10)]
  for (let at = head; ; ) {
    if (at.origin !== known.origin)
      fail(`seal ${at.n} is of ${at.origin}, not of ${known.origin}: another chain began; ask why`)
    const n = at.n - 1
    if (n === 0 || (n < Math.min(first, known.n) && (first >= known.n || at.day !== today))) return seals
    if (!shown.has(n)) {
      const bytes = await read(at.day < today ? `days/${at.day}` : nameOf(n))
      for (const each of bytes ? (textOf(bytes).match(SEALS) ?? []) : [])
        shown.set(Number(each.split('\n')[2]), each)
    }
    const before = await parse(shown.get(n) ?? fail(`seal ${n} is missing: withheld or removed`))
    if (at.prev !== before.digest || at.begin !== before.end)
      fail(`seal ${at.n} does not continue seal ${n}: one of the two was altered, or the chain was forked`)
    seals.set(n, before)
    at = before
  }
}

/** The seals in a file. */
const SEALS = /^highwater[^—]+—.+\n/gm

async function checkReceipt({ seq, n, r, s_n, batch }: Receipt, item?: string, commitment?: string) {
  if (!/^after (0|[1-9]\d*)\n([0-9a-f]{64}\n)*$/.test(batch))
    fail(`the batch of signal ${seq} has another form: it was altered`)
  const [salt, sealSalt] = [fromBase64(r), fromBase64(s_n)]
  const line = toHex(await sha256(salt, item ?? ''))
  if (item !== undefined && (salt.length !== 32 || !batch.split('\n').includes(line)))
    fail(`signal ${seq} as it was delivered is not in the batch of seal ${n}: it was altered`)
  if (sealSalt.length !== 32 || toBase64(await sha256(sealSalt, await sha256(batch))) !== commitment)
    fail(`the batch of signal ${seq} is not what seal ${n} commits to: it was altered later`)
}
