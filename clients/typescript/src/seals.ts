// Receipts of signals, checked with the public chain of seals, as docs/subscribing.md describes it.
import type { Receipt } from './generated/signals.ts'
import { HighwaterError } from './highwater-error.ts'
import { fromBase64, sha256, textOf, toBase64, toHex } from './requests.ts'
import { isSignedBy } from './verify.ts'

/** What is known of the chain. Keep it: the chain of tomorrow must continue that of today. */
export type SealState = {
  /** Signals up to this number are checked. */
  readonly checked_seq: number
  /** The newest seal that was seen, with the SHA-256 of its bytes, the day of its end, and the key of first use. */
  readonly head?: Readonly<Record<'digest' | 'origin' | 'date' | 'key', string>> & { readonly n: number }
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
  const from = Math.min(known?.n ?? head.n, ...shown.map(({ n }) => n))
  const first = from === known?.n ? known : await parse((await read(nameOf(from))) ?? (await get(nameOf(1))))
  const seals = await readChain(read, from, first.date, known?.origin ?? head.origin, head)
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
  const { n, digest, origin, date } = head
  const next = { checked_seq, head: { n, digest, origin, date, key } }
  return Number.isFinite(seq) ? { ...next, waiting } : next
}

export function fail(sentence: string, code: 'seal_mismatch' | 'not_published' = 'seal_mismatch'): never {
  throw new HighwaterError(code, sentence)
}

const nameOf = (n: number): string => String(n).padStart(9, '0')

const SHAPE =
  /^(?<text>highwater\/seal\/v1\n(?<origin>\S+)\n(?<n>\d{9})\n(?<begin>\S{20}) (?<end>\S{20})\n(?<commitment>\S{44})\n(?<prev>\S{44})\n\d{9} \S{44}\n)\n— \S+ (?<signature>\S+)\n$/

type Field = 'text' | 'origin' | 'n' | 'begin' | 'end' | 'commitment' | 'prev' | 'signature'

async function parse(bytes: Uint8Array | string) {
  const seal = typeof bytes === 'string' ? bytes : textOf(bytes)
  const groups = SHAPE.exec(seal)?.groups ?? fail('a published seal has another form: it was altered')
  const fields = groups as Record<Field, string> // the names in SHAPE
  const digest = toBase64(await sha256(seal))
  return { ...fields, n: Number(fields.n), digest, date: fields.end.slice(0, 10) }
}

/** The seals from a number, of day `date`, to the head: of each day that is over from its file, else one by one. */
async function readChain(
  read: ReadSeals,
  from: number,
  date: string,
  origin: string,
  head: Awaited<ReturnType<typeof parse>>,
) {
  const seals = new Map([[head.n, head]])
  for (let day = date; day < head.date; day = dayAfter(day))
    for (const each of textOf((await read(`days/${day}`)) ?? new Uint8Array()).match(SEALS) ?? [])
      seals.set(Number(each.split('\n')[2]), await parse(each))
  for (let n = from; n <= head.n; n++) {
    const missing = `seal ${n} is missing: withheld or removed`
    const seal = seals.get(n) ?? (await parse((await read(nameOf(n))) ?? fail(missing)))
    const before = n === from ? null : seals.get(n - 1)
    if (seal.n !== n || (before && (seal.prev !== before.digest || seal.begin !== before.end)))
      fail(`seal ${n} does not continue seal ${n - 1}: one of the two was altered, or the chain was forked`)
    if (seal.origin !== origin)
      fail(`seal ${n} is of ${seal.origin}, not of ${origin}: another chain began; ask why`)
    seals.set(n, seal)
  }
  return seals
}

/** The seals in the file of a day. */
const SEALS = /^highwater[^—]+—.+\n/gm

const dayAfter = (day: string) => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)

async function checkReceipt({ seq, n, r, s_n, batch }: Receipt, item?: string, commitment?: string) {
  const [salt, sealSalt] = [fromBase64(r), fromBase64(s_n)]
  const line = toHex(await sha256(salt, item ?? ''))
  if (item !== undefined && (salt.length !== 32 || !batch.split('\n').includes(line)))
    fail(`signal ${seq} as it was delivered is not in the batch of seal ${n}: it was altered`)
  if (sealSalt.length !== 32 || toBase64(await sha256(sealSalt, await sha256(batch))) !== commitment)
    fail(`the batch of signal ${seq} is not what seal ${n} commits to: it was altered later`)
}
