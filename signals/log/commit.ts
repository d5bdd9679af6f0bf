import type { Redis } from 'ioredis'
import { type LoggedContent, type SignalContent, toHalves } from '#core/contract/signal.ts'
import { sha256 } from '#storage/digest.ts'
import {
  EPOCH,
  EVERY_ALIAS,
  HALTED,
  HEAD,
  LATEST,
  LOG,
  liveKey,
  RUN_FUNCTION,
  SEAL_EVENTS,
  SIGNAL_IDS,
} from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import { knownLog, noteSeq, readGuardedHead } from './guard.ts'
import { SEVERAL } from './high-water.ts'

/** A signal to be committed; a test is for one destination, everything else for clients entitled to its alias. */
export type NewSignal = { readonly content: SignalContent; readonly onlyFor: string | null }

/** The number of a signal, and whether it was in the log already. */
export type Committed = { readonly seq: number; readonly isRepeat: boolean }

/** A step of a live strategy: committed only if its cursor is still `from`. */
export type LiveStep = {
  readonly alias: string
  /** The expected cursor, '' for none. */
  readonly from: string
  readonly to: string
  /** Other fields of the live record. */
  readonly fields: Readonly<Record<string, string>>
  /** The event that is sealed if this step ends a strategy that is LIVE. */
  readonly ended?: string
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly signals: readonly Committed[] }
  /** The cursor is elsewhere: another runner was here, or this step was committed already. */
  | { readonly kind: 'moved'; readonly cursor: string }
  /** One of them is a new entry of a halted alias; checked in the step that would have written it. */
  | { readonly kind: 'halted'; readonly alias: string }

/** The same `signal_id` with other content. */
export class SignalConflictError extends Error {
  constructor(signalId: string, seq: number) {
    super(
      `the signal_id ${signalId} is that of signal ${seq}, which has another content: a new signal needs an id of its own`,
    )
    this.name = 'SignalConflictError'
  }
}

/**
 * Commits signals, all or none, in order, and returns the number of each. A signal that is in the log already keeps
 * its number, so a commit whose reply was lost can be repeated. Once this resolves the signals are on disk. Throws
 * SignalConflictError, LogGoneError if this is not the guarded log, WritesRefusedError, or RedisDownError if the
 * outcome is unknown: repeat the same commit. Without signals and a step it is a trial, which throws what one more signal
 * would meet, and writes and promises nothing.
 */
export async function commit(
  redis: Redis,
  signals: readonly NewSignal[],
  nowMs: number,
  step: LiveStep | null = null,
): Promise<CommitOutcome> {
  const log = knownLog(redis)
  await log?.source?.assertDurable()
  // Without a step the key of the live record is another one of the same node, and not used.
  const keys = [LOG, SIGNAL_IDS, HEAD, LATEST, liveKey(step?.alias ?? '-'), EPOCH, HALTED, SEAL_EVENTS]
  const reply = await runScript(redis, COMMIT_SCRIPT, keys, ...argumentsOf(signals, nowMs, step, log))
  const [verdict = '', ...rest] = (reply as unknown[]).map(String) // the script returns a list of texts
  if (verdict === 'ok') {
    const committed = signals.map((_, i) => ({
      seq: Number(rest[2 * i]),
      isRepeat: rest[2 * i + 1] === 'repeated',
    }))
    for (const { seq } of committed) noteSeq(redis, seq)
    return { kind: 'committed', signals: committed }
  }
  if (verdict === 'moved') return { kind: 'moved', cursor: rest[0] ?? '' }
  if (verdict === 'halted') return { kind: 'halted', alias: rest[0] ?? '' }
  if (verdict === 'conflict') throw new SignalConflictError(rest[0] ?? '', Number(rest[1]))
  if (verdict === 'unpromised' && signals.length === 0 && step === null) {
    await log?.source?.assertPromises()
    return { kind: 'committed', signals: [] }
  }
  if (verdict === 'gone' || verdict === 'unpromised') {
    if (verdict === 'unpromised') await log?.source?.promise(Number(rest[0]))
    else await readGuardedHead(redis) // throws unless the service itself began the epoch
    return commit(redis, signals, nowMs, step)
  }
  if (verdict === 'full') throw new Error('the log has no numbers left: begin another one in another Redis')
  throw new Error(
    `the log holds signal ${rest[0]}, and its head is behind that: it was damaged or restored in part; restore it whole ` +
      'with `highwater ops restore`',
  )
}

const argumentsOf = (
  signals: readonly NewSignal[],
  nowMs: number,
  step: LiveStep | null,
  log: ReturnType<typeof knownLog>,
) => [
  nowMs,
  step?.from ?? '',
  step?.to ?? '',
  JSON.stringify(step?.fields ?? {}),
  signals.length,
  log?.epoch ?? '',
  log?.seq ?? 0,
  log?.source?.name ?? '',
  step?.ended ?? '',
  ...signals.flatMap(({ content, onlyFor }) => {
    const { head, tail } = toHalves(content)
    const digest = contentDigest(content)
    const yieldsToHalt = content.action !== 'flat' && onlyFor === null // tests are not traded
    return [content.signal_id, digest, head, tail, content.alias, onlyFor ?? '', yieldsToHalt ? '1' : '']
  }),
]

/**
 * The digest that tells a repeated signal from another one under its id: of what was asked for, so that it is the same
 * whoever sends it, and whichever release fired it first.
 */
export function contentDigest(content: LoggedContent): string {
  const { head, tail } = toHalves({ ...content, by: undefined, why: undefined })
  return sha256(head + tail)
}

/**
 * Redis does not roll back: every check comes before the first write, and the only write that can be refused, XADD,
 * comes before all others.
 */
const COMMIT_SCRIPT = `${RUN_FUNCTION}
local MAX_SEQ = 9007199254740991
local log, ids, head, latest, live = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, expected, cursor, fields, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local epoch, floor = ARGV[6], tonumber(ARGV[7]) -- the log that is meant; '' for whichever is there
local giver = ARGV[8] -- '' needs no promise
local ended = ARGV[9]
local FRONT = 9
local PARTS = 7 -- id, sha256, head, tail, alias, to, '1' where a halt keeps it back

local seq = tonumber(redis.call('HGET', head, 'seq') or '0')
if epoch ~= '' then
  local found = redis.call('GET', KEYS[6]) or ''
  if found ~= epoch or seq < floor then return {'gone', found, string.format('%.0f', seq)} end
end

local more = {}
if cursor ~= '' then
  more = cjson.decode(fields) -- raises where it is no JSON: nothing is written yet
  local there = redis.call('HGET', live, 'cursor') or ''
  if there ~= expected then return {'moved', there} end
end

local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
local written = newest and tonumber(string.match(newest[1], '^(%d+)')) or 0
if written > seq then return {'behind', string.format('%.0f', written)} end
local is_trial = count == 0 and cursor == ''
local wanted = seq + (is_trial and 1 or count)
if wanted > MAX_SEQ then return {'full'} end
if giver ~= '' then
  local run, promised, named = unpack(redis.call('HMGET', head, 'run', 'promised', 'giver'))
  local is_named = named == giver or named == '${SEVERAL}'
  if run ~= run_of_redis() or not is_named or wanted > tonumber(promised) then
    return {'unpromised', string.format('%.0f', wanted)}
  end
end

local function is_halted(alias)
  return redis.call('SISMEMBER', KEYS[7], alias) == 1 or redis.call('SISMEMBER', KEYS[7], '${EVERY_ALIAS}') == 1
end

local reply, fresh = {'ok'}, {}
for i = 1, count do
  local at = FRONT + (i - 1) * PARTS
  local id, sha = ARGV[at + 1], ARGV[at + 2]
  local known = redis.call('HGET', ids, id)
  if known then
    local old, oldSha = string.match(known, '^(%d+) (%x+)$')
    if oldSha ~= sha then return {'conflict', id, old} end
    reply[#reply + 1] = old
    reply[#reply + 1] = 'repeated'
  else
    if ARGV[at + 7] == '1' and is_halted(ARGV[at + 5]) then return {'halted', ARGV[at + 5]} end
    seq = seq + 1
    local number = string.format('%.0f', seq)
    fresh[#fresh + 1] = {number, id, sha, ARGV[at + 3] .. number .. ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]}
    reply[#reply + 1] = number
    reply[#reply + 1] = 'new'
  end
end

for _, entry in ipairs(fresh) do
  local body = entry[4]
  redis.call('XADD', log, entry[1] .. '-0', 'body', body, 'sha1', redis.sha1hex(body), 'alias', entry[5], 'to', entry[6], 'at', now)
end
for _, entry in ipairs(fresh) do
  redis.call('HSET', ids, entry[2], entry[1] .. ' ' .. entry[3])
  redis.call('HSET', head, 'seq', entry[1])
  redis.call('HSET', latest, entry[6] == '' and entry[5] or ('test:' .. entry[6]), entry[1])
  local others = string.match(entry[6], '^.*/') -- of a test for an endpoint that is not the default one
  if others then redis.call('HSET', latest, 'test:' .. others .. '*', entry[1]) end
end
if cursor ~= '' then
  if ended ~= '' and redis.call('HGET', live, 'mode') == 'LIVE' then redis.call('RPUSH', KEYS[8], ended) end
  redis.call('HSET', live, 'cursor', cursor)
  for field, value in pairs(more) do redis.call('HSET', live, field, value) end
end
return reply
`
