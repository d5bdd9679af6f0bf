// The one script that writes signals. Redis does not roll back: every check comes before the first write, and the only
// write that can be refused, XADD, comes before all others.

import { EVERY_ALIAS } from '../live/live-record.ts'

/** Keys of the script, in its order: log, signal ids, head, newest by alias, cursor of a live strategy, epoch, halts. */
export const COMMIT_KEYS = 7

/** Arguments in front of the signals, and of each signal. */
export const COMMIT_SCRIPT = `
local MAX_SEQ = 9007199254740991
local log, ids, head, latest, live = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, expected, cursor, fields, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local epoch, floor = ARGV[6], tonumber(ARGV[7]) -- the log that is meant; '' for whichever is there
local FRONT = 7
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
if seq + count > MAX_SEQ then return {'full'} end

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
end
if cursor ~= '' then
  redis.call('HSET', live, 'cursor', cursor)
  for field, value in pairs(more) do redis.call('HSET', live, field, value) end
end
return reply
`
