import type { Redis } from 'ioredis'
import { type SignalContent, toHalves } from '#core/contract/signal.ts'
import { sha256 } from '#storage/digest.ts'
import { askRedis } from '../redis/connect.ts'
import { EPOCH, HALTED, HEAD, LATEST, LOG, liveKey, SIGNAL_IDS } from '../redis/keys.ts'
import { COMMIT_KEYS, COMMIT_SCRIPT } from './commit-script.ts'
import { type KnownLog, knownLog, LogGoneError, noteSeq } from './guard.ts'

/** A signal to be written; a test is for one client, everything else for whoever is entitled to its alias. */
export type NewSignal = { readonly content: SignalContent; readonly onlyFor: string | null }

/** The number of a signal, and whether it was in the log already. */
export type Committed = { readonly seq: number; readonly isRepeat: boolean }

/** A step of a live strategy: written only where its cursor still stands at `from`. */
export type LiveStep = {
  readonly alias: string
  /** The cursor that must be there, '' for none. */
  readonly from: string
  readonly to: string
  /** What else the live record holds from now on. */
  readonly fields: Readonly<Record<string, string>>
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly signals: readonly Committed[] }
  /** The cursor stands elsewhere: another runner was here, or this step was made already. */
  | { readonly kind: 'moved'; readonly cursor: string }
  /** There is a new entry of a halted alias among them: it was looked at in the same step that would have written it. */
  | { readonly kind: 'halted'; readonly alias: string }

/** The same `signal_id` with another content. */
export class SignalConflictError extends Error {
  readonly signalId: string
  readonly seq: number

  constructor(signalId: string, seq: number) {
    super(
      `the signal_id ${signalId} is that of signal ${seq}, which has another content: a new signal needs an id of its own`,
    )
    this.name = 'SignalConflictError'
    this.signalId = signalId
    this.seq = seq
  }
}

/**
 * Writes signals, all or none, in order, and gives each its number. One that is in the log already keeps its old number,
 * so that a commit whose reply was lost can be made again. When this resolves the signals are on the disk. Throws
 * SignalConflictError, LogGoneError where this is not the log that is guarded, WritesRefusedError where Redis takes no
 * writes, or RedisDownError where the outcome is unknown: make the same commit again.
 */
export async function commit(
  redis: Redis,
  signals: readonly NewSignal[],
  nowMs: number,
  step: LiveStep | null = null,
): Promise<CommitOutcome> {
  const log = knownLog(redis)
  const reply = await askRedis(() =>
    redis.eval(COMMIT_SCRIPT, COMMIT_KEYS, ...keysOf(step), ...argumentsOf(signals, nowMs, step, log)),
  )
  const [verdict = '', ...rest] = (reply as unknown[]).map(String) // the script returns a list of texts
  if (verdict === 'ok') {
    const committed = toCommitted(rest)
    for (const { seq } of committed) noteSeq(redis, seq)
    return { kind: 'committed', signals: committed }
  }
  if (verdict === 'moved') return { kind: 'moved', cursor: rest[0] ?? '' }
  if (verdict === 'halted') return { kind: 'halted', alias: rest[0] ?? '' }
  if (verdict === 'conflict') throw new SignalConflictError(rest[0] ?? '', Number(rest[1]))
  if (verdict === 'gone')
    throw new LogGoneError({ epoch: rest[0] || null, seq: Number(rest[1]) }, log?.seq ?? 0)
  if (verdict === 'full')
    throw new Error('the log has no numbers left: 2^53 - 1 signals are enough for anybody')
  throw new Error(
    `the log holds signal ${rest[0]}, and its head is behind that: it was damaged or restored in part; restore it whole ` +
      'with `highwater ops restore`',
  )
}

const keysOf = (step: LiveStep | null): string[] => [
  LOG,
  SIGNAL_IDS,
  HEAD,
  LATEST,
  liveKey(step?.alias ?? '-'), // a key of the same node, not touched without a step
  EPOCH,
  HALTED,
]

const argumentsOf = (
  signals: readonly NewSignal[],
  nowMs: number,
  step: LiveStep | null,
  log: KnownLog | null,
): string[] => [
  String(nowMs),
  step?.from ?? '',
  step?.to ?? '',
  JSON.stringify(step?.fields ?? {}),
  String(signals.length),
  log?.epoch ?? '',
  String(log?.seq ?? 0),
  ...signals.flatMap(({ content, onlyFor }) => {
    const { head, tail } = toHalves(content)
    const digest = sha256(new TextEncoder().encode(head + tail))
    const yieldsToHalt = content.action !== 'flat' && onlyFor === null // a test is traded by nobody
    return [content.signal_id, digest, head, tail, content.alias, onlyFor ?? '', yieldsToHalt ? '1' : '']
  }),
]

function toCommitted(pairs: readonly string[]): Committed[] {
  const committed: Committed[] = []
  for (let i = 0; i < pairs.length; i += 2) {
    committed.push({ seq: Number(pairs[i]), isRepeat: pairs[i + 1] === 'repeated' })
  }
  return committed
}
