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
 * Owes a signal to clients. KEYS: owing. ARGV: seq, now, state before and after the previous number, then client and
 * previous number in turns. A client that is owed it already, or got it, is passed over; so the same call can be made
 * again. Gives the clients that must be called: whoever is at a client, or was called for it, finds the signal too.
 */
export const OWE_SCRIPT = createScript(`${NAMES}
local owing = KEYS[1]
local seq, now, before, after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local calls = {}
for i = 5, #ARGV, 2 do
  local client, prev = ARGV[i], ARGV[i + 1]
  local is_taken = redis.call('EXISTS', flight(client)) == 1 -- and its time in \`owing\` is the end of that
  if redis.call('HSETNX', ledger(seq), client, before .. prev .. after) == 1 then
    local is_called = is_taken or redis.call('EXISTS', ready(client)) == 1
    redis.call('ZADD', ready(client), seq, seq)
    if not is_taken then redis.call('ZADD', owing, 'LT', now, client) end
    if not is_called then calls[#calls + 1] = client end
  elseif not is_taken and redis.call('ZSCORE', ready(client), seq) then
    calls[#calls + 1] = client -- owed by a relay that died before it could call
  end
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
