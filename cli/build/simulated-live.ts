// Weeks of live trading of the sample book, simulated and sealed, so that a first run shows a live record. Nobody traded: the
// signals are those of a replay of its modules, and `simulated-live.json` has what went wrong. The same bytes at every run.
import pMap from 'p-map'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { SEAL_HEAD_CACHING, SEAL_HEAD_KEY, sealDayKey, sealKey } from '#core/contract/seals.ts'
import { type SignalContent, toHalves } from '#core/contract/signal.ts'
import { barAt } from '#core/replay/bars.ts'
import { heldAfter } from '#core/replay/held.ts'
import { startReplay } from '#core/replay/replay.ts'
import { step } from '#core/replay/step.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import type { Market } from '#pipeline/sample/market.ts'
import { strategy as alder } from '#pipeline/sample/template/strategies/alder.ts'
import { strategy as cedar } from '#pipeline/sample/template/strategies/cedar.ts'
import { strategy as larch } from '#pipeline/sample/template/strategies/larch.ts'
import { SAMPLE_AS_OF, SAMPLE_COSTS } from '#pipeline/sample/write-sample-book.ts'
import { signalsOf } from '#signals/live/signals-of.ts'
import { testContent } from '#signals/outbox/test-fire.ts'
import { openDays } from '#static-build/open-days.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { IMMUTABLE_JSON, IMMUTABLE_TEXT, type Stores, writeOnce } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readNewestSeal } from '#storage/seals/chain.ts'
import * as seals from '#storage/seals/seal.ts'
import { createSigner, type Signer } from '#storage/signature.ts'
import weeks from './simulated-live.json' with { type: 'json' }

/** Public on purpose, as the key is: they prove nothing, and a service goes on under a key of its own. */
const SECRET = 'everybody may know this secret of the simulated weeks'
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY = Buffer.concat([PKCS8, Buffer.from('and this seed of the private key')]).toString('base64')
const SIGNER = createSigner(`-----BEGIN PRIVATE KEY-----\n${KEY}\n-----END PRIVATE KEY-----\n`)

export const SIMULATED_ORIGIN = seals.originOf(SIGNER.keyId, weeks.from)

const FROM = Date.parse(weeks.from)
/** The midnight after the last day of the sample: the last seal belongs to the day that nobody has opened. */
const TO = (SAMPLE_AS_OF + 1) * DAY_MS

/** From the close of a bar until an operator fires its entry, and until a signal is acknowledged. */
const HAND_MS = 240_000
const COMMIT_MS = 3000

/** When a signal, still without its number, or an event was acknowledged. */
type Happened = { readonly ms: number; readonly what: SignalContent | (typeof weeks.events)[number] }

/** Writes the chain and its openings into the public store, and the record of its last seal into the private one. */
export async function sealSimulatedWeeks({ store, privateStore }: Stores, market: Market): Promise<void> {
  const sealed = sealAll([
    { ms: Date.parse(weeks.test), what: testContent('test-simulated', Date.parse(weeks.test)) },
    ...weeks.events.map(what => ({ ms: Date.parse(what.at), what })),
    ...[alder, cedar, larch].flatMap(strategy => firedBy(strategy, market)),
  ])
  const last = sealed.at(-1)!
  const over = sealed.slice(0, -1)
  const days = [...Map.groupBy(over, ({ record }) => seals.dateOf({ toMs: Date.parse(record.to) }))]
  const files: readonly (readonly [key: string, bytes: Uint8Array])[] = [
    [seals.keyOfOrigin(SIMULATED_ORIGIN), Buffer.from(SIGNER.publicKeyPem)],
    ...[sealed[0]!, over.at(-1)!, last].map(({ record, bytes }) => [sealKey(record.n), bytes] as const),
    ...days.map(([day, all]) => [sealDayKey(day), Buffer.concat(all.map(({ bytes }) => bytes))] as const),
  ]
  await pMap(files, ([key, bytes]) => writeOnce(store, key, bytes, IMMUTABLE_TEXT), { concurrency: 16 })
  await writeOnce(privateStore, seals.recordKey(last.record.n), toJsonBytes(last.record), IMMUTABLE_JSON)
  await store.replace(SEAL_HEAD_KEY, last.bytes, { ...IMMUTABLE_TEXT, cache_control: SEAL_HEAD_CACHING })
  const records = new Map(sealed.map(({ record }) => [seals.recordKey(record.n), toJsonBytes(record)]))
  const read = async (key: string) => records.get(key) ?? null
  await openDays({ store, privateStore: { ...privateStore, read } }, days.at(-1)![0])
}

/**
 * Writes the record with which a service goes on after the simulated weeks: in a chain of its own key, from the first number of its
 * log. Does nothing if one goes on already.
 */
export async function leaveSimulatedWeeks(
  { store, privateStore }: Stores,
  own: { readonly signer: Signer; readonly secret: string; readonly nowMs: number },
): Promise<void> {
  const newest = await readNewestSeal(key => store.read(key))
  if (newest?.seal.origin !== SIMULATED_ORIGIN) return
  const { n, toMs } = newest.seal
  const { keyId } = own.signer
  const at = toIsoInstant(own.nowMs)
  const why = 'the simulated weeks of the sample are over'
  const items = seals.beginningItems(newest, keyId, [], { by: 'runner', why, at })
  const endMs = (Math.floor(own.nowMs / seals.SEAL_MS) + 1) * seals.SEAL_MS
  const facts = factsOf(n + 1, seals.originOf(keyId, at), toIsoInstant(toMs), endMs, own.secret)
  const record = seals.toRecord({ ...facts, ...seals.entryFacts(await readHead(store)) }, 0, items)
  await privateStore.create(seals.recordKey(n + 1), toJsonBytes(record), IMMUTABLE_JSON)
}

const factsOf = (n: number, origin: string, from: string, toMs: number, secret: string) => ({
  ...{ n, origin, from, to: toIsoInstant(toMs), events: 0, ...seals.entryFacts(null) },
  day_key: seals.dayKeyOf(secret, seals.dateOf({ toMs })),
})

/** What a runner would have fired, but for what went wrong. */
function firedBy(strategy: Strategy, { bars, funding }: Market): Happened[] {
  const { engine, state } = startReplay({ strategy, bars, funding, costs: SAMPLE_COSTS })
  const { id: alias, timeframeMs, baseRisk } = strategy
  const sender = { alias, timeframeMs, baseRisk, tickSize: SAMPLE_COSTS.tick_size }
  let isHeld = false
  return Array.from(bars.t).flatMap((t, i) => {
    const bar = barAt(bars, i)
    const report = { before: heldAfter(state), bar, events: step(engine, state, bar) }
    if (t < FROM) return []
    return signalsOf(report, sender).flatMap(signal => {
      const isFired = signal.action === 'flat' ? isHeld : isEntered(signal)
      isHeld = isFired && signal.action !== 'flat'
      return isFired ? [asFired(signal)] : []
    })
  })
}

const isEntered = ({ alias, timestamp }: SignalContent): boolean =>
  !weeks.missed.includes(`${alias} ${timestamp}`) && lastEvent('*', timestamp) !== 'halt'

const lastEvent = (alias: string, until: string): string | undefined =>
  weeks.events.findLast(event => event.alias === alias && event.at <= until)?.event

function asFired(signal: SignalContent): Happened {
  const { alias, action, timestamp } = signal
  const isByHand = action !== 'flat' && weeks.by_hand.includes(`${alias} ${timestamp}`)
  const ms = Date.parse(timestamp) + (isByHand ? HAND_MS : 0)
  const mode = lastEvent(alias, timestamp) === 'live' ? 'LIVE' : 'DRY_RUN'
  const by = isByHand ? 'operator:demo' : 'strategy'
  return { ms: ms + COMMIT_MS, what: { ...signal, mode, by, timestamp: toIsoInstant(ms) } }
}

type Sealed = { readonly record: seals.SealRecord; readonly bytes: Uint8Array }

/** The whole chain; each seal has what happened since the one before, in order. */
function sealAll(happened: readonly Happened[]): readonly Sealed[] {
  const due = happened.toSorted((a, b) => a.ms - b.ms)
  const sealed: Sealed[] = []
  let [seq, prev, from] = [0, seals.NO_DIGEST, weeks.from]
  for (let toMs = FROM + seals.SEAL_MS; toMs <= TO; toMs += seals.SEAL_MS) {
    const to = toIsoInstant(toMs)
    if (weeks.standstills.some(each => to > each.from && to < each.to)) continue
    const after = seq
    const items: string[] = []
    while (due[0] !== undefined && due[0].ms < toMs) {
      const { what } = due.shift()!
      items.push('event' in what ? JSON.stringify(what) : toHalves(what).head + ++seq + toHalves(what).tail)
    }
    const facts = factsOf(sealed.length + 1, SIMULATED_ORIGIN, from, toMs, SECRET)
    const record = seals.toRecord(facts, after, items)
    const bytes = seals.signSeal(seals.sealOf(record, prev), SIGNER)
    sealed.push({ record, bytes })
    ;[prev, from] = [seals.digestOfSeal(bytes), to]
  }
  return sealed
}
