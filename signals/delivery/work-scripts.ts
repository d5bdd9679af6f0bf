// The scripts of a worker: to take a client, and to hand in what came of a try for the next thing to do.
import { createBatchedScript } from '../redis/batched-script.ts'
import { ATTEMPTS_PREFIX, CLIENT_PREFIX, LOG, OWING, WEBHOOKS } from '../redis/keys.ts'
import { TEXT_FUNCTION } from '../redis/record-text.ts'
import { NAMES } from './ledger-scripts.ts'

/** Retries that become due at once: a reply stays quick, and the rest is found the next time. */
const PROMOTED_AT_ONCE = 1_000

/**
 * Finding the next signal for a client. An open breaker lets nothing through until `probe_at`, then the newest; else the
 * lowest number that is due goes first. Gives {'held', time}, {'free', time of the next try or ''}, and then the client is
 * free again in the same step, so whoever was turned away left nothing behind; or
 * {'send', seq, state, log entry, webhook, client} with everything that is looked at before a signal is sent, each record
 * as one text. Of the clients of one batch most are owed the same signals: each is read once.
 */
const FIND = `${TEXT_FUNCTION}
local owing, log = KEYS[1], KEYS[2]

local function free(client, at)
  redis.call('DEL', flight(client))
  if at ~= '' then redis.call('ZADD', owing, at, client) else redis.call('ZREM', owing, client) end
end

local entries = {}
local function entry(seq)
  if not entries[seq] then
    local found = redis.call('XRANGE', log, seq .. '-0', seq .. '-0')[1]
    entries[seq] = found and text(found[2]) or ''
  end
  return entries[seq]
end

local function probe_of(fields)
  for i = 1, #fields, 2 do
    if fields[i] == 'probe_at' then return fields[i + 1] end
  end
  return ''
end

local function promote(client, now)
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', waiting(client), '-inf', now, 'LIMIT', 0, ${PROMOTED_AT_ONCE})) do
    redis.call('ZREM', waiting(client), seq)
    redis.call('ZADD', ready(client), seq, seq)
  end
end

local function find(client, now)
  local first = redis.call('ZRANGE', waiting(client), 0, 0, 'WITHSCORES')[2] or ''
  local seq = redis.call('ZRANGE', ready(client), 0, 0)[1]
  local fields = (first ~= '' or seq) and redis.call('HGETALL', webhook(client)) or {}
  local probe = probe_of(fields)
  if probe ~= '' and tonumber(now) < tonumber(probe) then
    free(client, probe)
    return {'held', probe}
  end
  if first ~= '' then promote(client, now) end
  if first ~= '' or probe ~= '' then
    seq = redis.call(probe ~= '' and 'ZREVRANGE' or 'ZRANGE', ready(client), 0, 0)[1]
  end
  if not seq then
    free(client, first)
    return {'free', first}
  end
  local state = redis.call('HGET', ledger(seq), client) or ''
  return {'send', seq, state, entry(seq), text(fields), text(redis.call('HGETALL', '${CLIENT_PREFIX}' .. client))}
end
`

/**
 * Takes a client for a worker and finds its next signal. Of each call: client, token, now, life of the taking, its end. As
 * FIND, or {'busy'} where another has it.
 */
export const TAKE_SCRIPT = createBatchedScript(
  `${NAMES}${FIND}
local function one(client, token, now, ttl, ends)
  local holder = redis.call('GET', flight(client))
  if holder and holder ~= token then return {'busy'} end -- ours already: the reply was lost
  redis.call('SET', flight(client), token, 'PX', ttl)
  redis.call('ZADD', owing, ends, client)
  return find(client, now)
end
`,
  [OWING, LOG],
  5,
)

/** Attempts that are kept of each delivery: all tries of two rounds. */
const ATTEMPTS_KEPT = 40

/**
 * Writes what came of a try, how the webhook stands after it, and finds the next signal or lets the client go. Of each
 * call: client, token, now; the number; the state that was read and the new one; time of the next try or ''; the attempt or
 * ''; how the webhook stands now, JSON, or ''; when to look again, or '' to find the next. Gives first '1' where the state
 * was still the one that was read: a replay meanwhile begins another round. After a lost reply it can be run again. What comes
 * late, when the client is another worker's already, is written too: an acknowledgement ends the round, whatever that one got.
 */
export const SETTLE_SCRIPT = createBatchedScript(
  `${NAMES}${FIND}
local webhooks = KEYS[3]

local function note(attempts, attempt, is_first)
  if not is_first and redis.call('LINDEX', attempts, -1) == attempt then return end
  local count = redis.call('RPUSH', attempts, attempt)
  if count > ${ATTEMPTS_KEPT} then redis.call('LTRIM', attempts, -${ATTEMPTS_KEPT}, -1) end
end

local function move(client, to)
  local there = redis.call('HMGET', webhook(client), 'url', 'condition')
  if there[1] ~= to.url or there[2] ~= to.was then return end -- it was set anew meanwhile
  redis.call('HSET', webhook(client), 'condition', to.condition, 'probe_at', to.probe_at, 'lane', to.lane)
  if to.disabled_why ~= '' then
    redis.call('HSET', webhook(client), 'enabled', '0', 'disabled_why', to.disabled_why, 'probe_at', '')
    redis.call('SREM', webhooks, client)
  end
end

local function hasten(client)
  for _, late in ipairs(redis.call('ZRANGE', waiting(client), 0, -1)) do redis.call('ZADD', ready(client), late, late) end
  redis.call('DEL', waiting(client))
end

local function is_late_success(there, state)
  if not there or state == '' then return false end
  local old, new = cjson.decode(there), cjson.decode(state)
  return new.status == 'delivered' and old.status ~= 'delivered' and new.round == old.round
end

local function one(client, token, now, seq, was, state, due, attempt, moved, leave)
  local there = redis.call('HGET', ledger(seq), client)
  local is_first = there == was and was ~= state -- else it may be run again after a lost reply
  if attempt ~= '' then note('${ATTEMPTS_PREFIX}' .. seq .. ':' .. client, attempt, is_first) end
  local is_late = there ~= was and there ~= state and is_late_success(there, state)
  local verdict = (there == was or there == state or is_late) and '1' or '0'
  if (there == was or is_late) and state ~= '' then
    redis.call('HSET', ledger(seq), client, state)
    redis.call('ZREM', ready(client), seq)
    if is_late then redis.call('ZREM', waiting(client), seq) end
    if due ~= '' then redis.call('ZADD', waiting(client), due, seq) end
  end
  if moved ~= '' then
    local to = cjson.decode(moved)
    move(client, to)
    if to.hurries == '1' then hasten(client) end
  end

  if redis.call('GET', flight(client)) ~= token then return {verdict, {'lost'}} end
  if leave == '' then return {verdict, find(client, now)} end
  local is_empty = redis.call('EXISTS', ready(client), waiting(client)) == 0
  free(client, is_empty and '' or leave)
  return {verdict, {is_empty and 'free' or 'left', ''}}
end
`,
  [OWING, LOG, WEBHOOKS],
  10,
)
