// Receipts of signals, checked with the public chain of seals, as docs/subscribing.md describes it.
import type { Receipt } from './generated/signals.ts'
import { HighwaterError } from './highwater-error.ts'
import { textOf } from './requests.ts'

/** What is known of the chain. Keep it: the chain of tomorrow must continue that of today. */
export type SealState = {
  /** Signals up to this number are checked. */
  readonly checked_seq: number
  /** The newest seal that was seen, with the SHA-256 of its bytes, the day of its end, and the key of first use. */
  readonly head?: Readonly<Record<'digest' | 'origin' | 'date' | 'key', string>> & { readonly n: number }
  /** The first signal without a receipt, and the newest seal when that was found. */
  readonly waiting?: { readonly seq: number; readonly n: number } | undefined
  /** What was wrong: every further check fails with it. */
  readonly fault?: string
}

/** The object of a name below `v1/seals/`, null if there is none. */
export type ReadSeals = (name: string) => Promise<Uint8Array | null>

/** The seals that may pass before a signal is in one of them. */
const MOST_SEALS = 6

const OTHER = 'another chain is shown to you than before'

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
  const { head: known, checked_seq: since } = state
  const get = async (name: string) =>
    (await read(name)) ??
    fail(`${name} of the seals is missing: ${OTHER}`, known ? 'seal_mismatch' : 'not_published')
  let head = await parse(await get('head'))
  if (known && head.n < known.n) head = await parse(await get(nameOf(known.n))) // a cache may have an old head
  const shown = receipts.filter(({ n }) => n <= head.n) // a later one is published in a moment
  const from = Math.min(known?.n ?? head.n, ...shown.map(({ n }) => n))
  const first = from === known?.n ? known : await parse((await read(nameOf(from))) ?? (await get(nameOf(1))))
  const seals = await readChain(read, from, first.date, known?.origin ?? head.origin, head)
  if (known && seals.get(known.n)?.digest !== known.digest)
    fail(`seal ${known.n} is not the one that you saw: ${OTHER}`)
  const key = known?.key ?? textOf(await get(`keys/${head.origin.split('/')[1]}.pem`))
  if (!(await isSigned(head, key))) fail(`seal ${head.n} is not signed by the key that you know: ${OTHER}`)
  for (const each of shown) await checkReceipt(each, delivered.get(each.seq), seals.get(each.n)?.commitment)
  const checked_seq = shown.at(-1)?.seq ?? since
  const sealed = receipts.map(({ seq }) => seq)
  const seq = Math.min(...[...delivered.keys()].filter(each => each > since && !sealed.includes(each)))
  const n = state.waiting?.seq === seq ? state.waiting.n : head.n
  if (seq < checked_seq || head.n > n + MOST_SEALS)
    fail(
      `signal ${seq} was delivered to you, and no seal up to ${head.n} has it: it was left out, or is no longer one of yours`,
    )
  const { digest, origin, date } = head
  const waiting = Number.isFinite(seq) ? { seq, n } : undefined
  return { checked_seq, head: { n: head.n, digest, origin, date, key }, waiting }
}

function fail(sentence: string, code: 'seal_mismatch' | 'not_published' = 'seal_mismatch'): never {
  throw new HighwaterError(code, sentence)
}

const nameOf = (n: number): string => String(n).padStart(9, '0')

const SHAPE =
  /^(highwater\/seal\/v1\n(\S+)\n(\d{9})\n(\S{20}) (\S{20})\n(\S{44})\n(\S{44})\n\d{9} \S{44}\n)\n— \S+ (\S+)\n$/

async function parse(bytes: Uint8Array | string) {
  const [all, text = '', origin = '', n, begin, end = '', commitment, prev, signature = ''] =
    SHAPE.exec(typeof bytes === 'string' ? bytes : textOf(bytes)) ??
    fail('a published seal has another form: it was altered')
  const digest = toBase64(await sha256(all))
  return {
    text,
    origin,
    n: Number(n),
    begin,
    end,
    commitment,
    prev,
    signature,
    digest,
    date: end.slice(0, 10),
  }
}

type Seal = Awaited<ReturnType<typeof parse>>

/** The seals from a number, of day `date`, to the head: of each day that is over from its file, else one by one. */
async function readChain(read: ReadSeals, from: number, date: string, origin: string, head: Seal) {
  const seals = new Map([[head.n, head]])
  for (
    let day = date;
    day < head.date;
    day = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  )
    for (const each of textOf((await read(`days/${day}`)) ?? new Uint8Array()).match(
      /^highwater[^—]+—.+\n/gm,
    ) ?? [])
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

async function isSigned({ text, signature }: Seal, pem: string): Promise<boolean> {
  const der = fromBase64(pem.replaceAll(/-----[^-]+-----/g, ''))
  const key = await crypto.subtle.importKey('spki', der, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, fromBase64(signature).slice(4), new TextEncoder().encode(text))
}

async function checkReceipt(
  { seq, n, r, s_n, batch }: Receipt,
  item: string | undefined,
  commitment?: string,
) {
  const [salt, sealSalt] = [fromBase64(r), fromBase64(s_n)]
  const digest = await sha256(salt, item ?? '')
  const line = Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
  if (item !== undefined && (salt.length !== 32 || !batch.split('\n').includes(line)))
    fail(`signal ${seq} as it was delivered is not in the batch of seal ${n}: it was altered`)
  if (sealSalt.length !== 32 || toBase64(await sha256(sealSalt, await sha256(batch))) !== commitment)
    fail(`the batch of signal ${seq} is not what seal ${n} commits to: it was altered later`)
}

const sha256 = async (...parts: (Uint8Array<ArrayBuffer> | string)[]) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()))

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const fromBase64 = (text: string) => Uint8Array.from(atob(text), char => char.charCodeAt(0))
