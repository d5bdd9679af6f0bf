// The scripts of the ledger: each change of what is owed is one of them, so that a crash falls between two changes and
// never into one. Keys that depend on a client are made inside; the braces in all of them keep them on one node.
import { FLIGHT_PREFIX, LEDGER_PREFIX, READY_PREFIX, WAITING_PREFIX, WEBHOOK_PREFIX } from '../redis/keys.ts'
import { createScript } from '../redis/script.ts'

/** Lua: the keys of a signal or of a client. */
export const NAMES = `
local function ledger(seq) return '${LEDGER_PREFIX}' .. seq end
local function ready(client) return '${READY_PREFIX}' .. client end
local function waiting(client) return '${WAITING_PREFIX}' .. client end
local function flight(client) return '${FLIGHT_PREFIX}' .. client end
local function webhook(client) return '${WEBHOOK_PREFIX}' .. client end
`

/**
 * Owes signals to clients. KEYS: owing, cursor of the relay. ARGV: now, state before and after the previous number, then of
 * each client: its name, how many signals, and their numbers and previous numbers in turns. What a client is owed already, or
 * got, is passed over; so the same call can be made again. So is what the cursor has passed: a relay that stood still for
 * longer than its lease names predecessors that were not yet there. Gives the clients that must be called: whoever is at a
 * client, or was called for it, finds the signals too.
 */
export const OWE_SCRIPT = createScript(`${NAMES}
local owing = KEYS[1]
local passed = tonumber(redis.call('GET', KEYS[2]) or '0')
local now, before, after = ARGV[1], ARGV[2], ARGV[3]

local function owe(client, first, last)
  local is_taken = redis.call('EXISTS', flight(client)) == 1 -- and its time in \`owing\` is the end of that
  local is_called = is_taken or redis.call('EXISTS', ready(client)) == 1
  local fresh, is_left = {}, false
  for i = first, last, 2 do
    local seq = ARGV[i]
    local is_passed = tonumber(seq) <= passed -- by another relay, while ours stood still for longer than its lease
    if not is_passed and redis.call('HSETNX', ledger(seq), client, before .. ARGV[i + 1] .. after) == 1 then
      fresh[#fresh + 1] = seq
      fresh[#fresh + 1] = seq
    elseif not is_taken and redis.call('ZSCORE', ready(client), seq) then
      is_left = true -- owed by a relay that died before it could call
    end
  end
  if #fresh > 0 then
    redis.call('ZADD', ready(client), unpack(fresh))
    if not is_taken then redis.call('ZADD', owing, 'LT', now, client) end
  end
  return is_left or (#fresh > 0 and not is_called)
end

local calls = {}
local at = 4
while at <= #ARGV do
  local client, last = ARGV[at], at + 1 + 2 * tonumber(ARGV[at + 1])
  if owe(client, at + 2, last) then calls[#calls + 1] = client end
  at = last + 1
end
return calls
`)

/**
 * Owes signals to a client once more, whatever became of them. KEYS: owing. ARGV: client, now, state behind the round,
 * then number and previous number in turns.
 */
export const REPLAY_SCRIPT = createScript(`${NAMES}
local client, now, after = ARGV[1], ARGV[2], ARGV[3]
for i = 4, #ARGV, 2 do
  local seq, prev = ARGV[i], ARGV[i + 1]
  local old = redis.call('HGET', ledger(seq), client)
  local round = string.format('%.0f', (old and cjson.decode(old).round or 0) + 1)
  redis.call('HSET', ledger(seq), client, '{"status":"owed","attempts":0,"prev":' .. prev .. ',"round":' .. round .. after)
  redis.call('ZREM', waiting(client), seq)
  redis.call('ZADD', ready(client), seq, seq)
end
redis.call('ZADD', KEYS[1], 'LT', now, client)
return 1
`)
