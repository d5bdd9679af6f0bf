// Every Redis key of the signals service. The hash tag in braces keeps all of them on one node of a cluster,
// because scripts write several at once. `clientKey('')` is what the keys of all clients begin with, and so are the others.

export const PREFIX = '{hw}'

/** Stream: the log. Ids are `<seq>-0`; fields `body`, `sha1`, `alias`, `to`, `at`. Never trimmed. */
export const LOG = `${PREFIX}:log`

/** Hash: signal_id -> `<seq> <sha256 of its content>`. */
export const SIGNAL_IDS = `${PREFIX}:log:ids`

/**
 * Hash: `seq`, the number of the newest signal, above which a restored log begins; `run`, the process of Redis in which
 * numbers are given, and `promised`, up to which; where the end of the log may have been lost, `successor` (the epoch
 * before and the new one), and `continued` (the number of the newest signal that was there, the number above which the
 * log goes on, and when, epoch milliseconds).
 */
export const HEAD = `${PREFIX}:log:head`

/** Lua: `run_of_redis()` names the process of Redis that runs the script, and whether it was a replica of another one. */
export const RUN_FUNCTION = `
local function run_of_redis()
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local before = string.match(redis.call('INFO', 'replication'), 'master_replid2:(%w+)')
  return run or '', (before or '0'):find('[^0]') ~= nil
end
`

/**
 * Hash: an alias, or `test:<destination>` -> number of the newest signal of it. `test:<client>/*` is the newest test of every
 * endpoint but the default one, so that the newest that a client sees stays when an endpoint is removed.
 */
export const LATEST = `${PREFIX}:log:latest`

/** String: identifies this history of the log; changes with a restore. */
export const EPOCH = `${PREFIX}:epoch`

/**
 * Hash of a live strategy: `cursor` (close of its last bar), `timeframe_ms`, `checkpoint`, `announced`, `gaps`
 * (all of them, JSON), `live_from`, `mode` (ordered), `hash:<day>` (digest of its state at the end of a day),
 * `held:<signal_id>` (an entry kept back by a halt).
 */
export const liveKey = (alias: string): string => `${PREFIX}:live:${alias}`

/** Set: the aliases that `highwater live` has begun. Records of earlier releases are not in it until their next start. */
export const LIVE_ALIASES = `${PREFIX}:live-aliases`

/** String with an expiry: the lease on a market, such as `BTCUSDT-PERP/4h`. */
export const liveLeaseKey = (market: string): string => `${PREFIX}:live-lease:${market}`

/** Set: the aliases that are halted; `*` halts all. */
export const HALTED = `${PREFIX}:halted`
export const EVERY_ALIAS = '*'

/** Set: the ids of all clients. */
export const CLIENTS = `${PREFIX}:clients`

/** Hash of a client: `tier`, `status`, `aliases` (JSON), `program` (0, 1), `created_at`, `suspended`, `keys_issued`. */
export const clientKey = (client: string): string => `${PREFIX}:client:${client}`

/** Set of a client: the ids of its keys that are not revoked: two that have not ended, and those that have. */
export const clientKeysKey = (client: string): string => `${clientKey(client)}:keys`

/**
 * Hash of a live API key, by its public id: `client`, `sha256` of the token, `number` (its ordinal within the
 * client), and in epoch milliseconds `created_at`, `confirmed_at`, `last_used_at`, `expires_at` (refused from then on).
 */
export const apiKeyKey = (id: string): string => `${PREFIX}:key:${id}`

/** Hash: the id of a key that ends and of which no notice was given yet -> its end, epoch milliseconds. */
export const EXPIRING_KEYS = `${PREFIX}:expiring-keys`

/** List of a client: its notices, JSON, newest first. */
export const noticesKey = (client: string): string => `${PREFIX}:notices:${client}`

/** Hash: the id of a notice that is still to be sent -> the notice, its client, and what is left to do, JSON. */
export const NOTICES_OWED = `${PREFIX}:notices-owed`

/** Of a client; older ones are dropped. */
export const MOST_NOTICES = 100

/**
 * Lua: `notify(destination, event, key_id, reason)` gives a client a notice of an endpoint, or, if the event begins with `key_`, of a
 * key and no endpoint; `key_id` is '' if it is of none. `at` is in epoch milliseconds.
 */
export const NOTIFY = `
local function notify(destination, event, key_id, reason)
  local client, name = string.match(destination, '^([^/]+)/?(.*)$')
  local s, us = unpack(redis.call('TIME'))
  local endpoint = string.sub(event, 1, 4) == 'key_' and cjson.null or name == '' and 'default' or name
  local id = 'notice-' .. s .. string.format('%06d', us) .. '-' .. (endpoint == cjson.null and key_id or endpoint)
  local at = s * 1000 + math.floor(us / 1000)
  local key = key_id ~= '' and key_id or cjson.null
  local notice = cjson.encode({id = id, client = client, at = at, event = event, endpoint = endpoint, key_id = key, reason = reason})
  redis.call('LPUSH', '${noticesKey('')}' .. client, notice)
  redis.call('LTRIM', '${noticesKey('')}' .. client, 0, ${MOST_NOTICES - 1})
  redis.call('HSET', '${NOTICES_OWED}', id, notice)
end
`

/** String of a client: its profile of the program, `SimulationInput` and `updated_utc` as JSON. */
export const profileKey = (client: string): string => `${PREFIX}:profile:${client}`

/** Prefix of strings with an expiry, `<limit>:<address>`: preview requests of an address in its minute. */
export const PREVIEW_LIMIT_PREFIX = `${PREFIX}:limit:`

/** Set: the destinations with a webhook that is enabled. */
export const WEBHOOKS = `${PREFIX}:webhooks`

/**
 * Hash of a destination's webhook: `url`, `secrets` and `headers` (sealed), `enabled`, `disabled_why`, `lane`, `condition` (JSON),
 * `probe_at`, the next probe of an open breaker, `set_at` (epoch milliseconds) and `set_by`, the id of the key that
 * set it, `link:NAME` if a link of an operator did, empty for the operator (records of earlier releases have neither), and `suspended`,
 * '1' from the revocation of that key until it is set again. `last_success` (epoch milliseconds) changes without the revision. Settings,
 * absent by default: `filter` (aliases, JSON), `expire_after_s`, `paused` (1), and `settings_by`: who changed them, newest first, with
 * blanks between.
 */
export const webhookKey = (destination: string): string => `${PREFIX}:webhook:${destination}`

/** Set of a client: the names of its endpoints, without the default one. */
export const endpointsKey = (client: string): string => `${PREFIX}:endpoints:${client}`

/** List of a client: the names of endpoints that it removed, newest first, without the default one. */
export const removedEndpointsKey = (client: string): string => `${PREFIX}:removed-endpoints:${client}`

/**
 * String of a client: a value that no other state of its record and its webhooks has; absent before the first change.
 * Every change of one of them sets it in the same step, because workers keep them until it changes. The count of
 * issued keys, which no delivery reads, changes without it.
 */
export const REVISION_PREFIX = `${PREFIX}:revision:`

/** Lua: `revise(destination)` sets the revision of its client. */
export const REVISE = `
local function client_of(destination) return string.match(destination, '^[^/]*') end
local function revise(destination)
  redis.call('SET', '${REVISION_PREFIX}' .. client_of(destination), table.concat(redis.call('TIME'), '.'))
end
`

/** String with an expiry: how often a client has done something in its hour, of all its endpoints; `:counted` are resends that were only counted. */
export const hourKeyOf =
  (what: 'registrations' | 'changes' | 'tests' | 'resends', more: '' | ':counted' = '') =>
  (client: string): string =>
    `${PREFIX}:${what}:${client}${more}`

/**
 * Hash of a signal, destination -> state of the delivery as JSON: the outbox. The key text is that of stored data and
 * backups.
 */
export const outboxKey = (seq: number): string => `${OUTBOX_PREFIX}${seq}`
export const OUTBOX_PREFIX = `${PREFIX}:ledger:`

/** List: what operators did, as JSON; only appended to. */
export const AUDIT = `${PREFIX}:audit`

/** String: how many of them are in the private store. */
export const AUDIT_COPIED = `${PREFIX}:audit:copied`

/** Hash: the name of an operator -> the digest of a token, its scopes and when it was issued, as JSON. */
export const OPERATOR_TOKENS = `${PREFIX}:ops-tokens`

/** Sorted set of the digest of an operator's token, with an expiry: its sessions on the page, scored by their end. */
export const sessionsKey = (digest: string): string => `${PREFIX}:ops-session:${digest}`

/**
 * Hash of a client, with an expiry: its sessions on the page for subscribers, the digest of a token -> when it ends (epoch
 * milliseconds), a space, and as JSON whose it is.
 */
export const accountSessionsKey = (client: string): string => `${PREFIX}:account-sessions:${client}`

/** String with an expiry: an operator's link to that page that was not used yet, by the digest of its token. */
export const accountLinkKey = (digest: string): string => `${PREFIX}:account-link:${digest}`

/** Sorted set of a destination: the numbers of signals that are due, scored by number. */
export const READY_PREFIX = `${PREFIX}:ready:`

/** Sorted set of a destination: the numbers of signals that wait for a retry, scored by its time. */
export const waitingKey = (destination: string): string => `${PREFIX}:waiting:${destination}`

/**
 * Sorted sets: the destinations of a lane that are owed anything, scored by when they are due: at once, at the next retry
 * or probe, or when the lease of their worker ends. A destination is in one of the two, or in none while it is paused.
 */
export const SCHEDULES = { fast: `${PREFIX}:owing`, slow: `${PREFIX}:owing:slow` } as const

/** String with an expiry: the lease of the worker that delivers to a destination. */
export const FLIGHT_PREFIX = `${PREFIX}:flight:`

/** List of a signal and destination: its attempts, JSON, newest last. */
export const attemptsKey = (seq: number, destination: string): string =>
  `${ATTEMPTS_PREFIX}${seq}:${destination}`
export const ATTEMPTS_PREFIX = `${PREFIX}:attempts:`

/** String: the number of the last signal that the relay has put into the outbox. */
export const RELAY_CURSOR = `${PREFIX}:relay:cursor`

/** Hash: an alias, or `test:<destination>` -> its newest number that the relay has passed. */
export const RELAYED = `${PREFIX}:relay:latest`

/** String with an expiry: the lease of the relay. */
export const RELAY_LEASE = `${PREFIX}:relay:lease`

/** List: what was ordered of live strategies, each a `SealEvent` as JSON, in the step that did it; only appended to. */
export const SEAL_EVENTS = `${PREFIX}:seal-events`

/** Sorted set: the numbers of the seals that have signals, scored by the number of the last one. */
export const SEALS = `${PREFIX}:seals`

/**
 * Hash: the newest seal that was published (`n`, 0 before the first, and `to`), why nothing is sealed (`refused`, a sentence or
 * empty), when that was found (`at`), and, after a restore of Redis, when its backup was made (`restored`), until a new
 * chain begins. `to` and `at` are epoch milliseconds.
 */
export const SEAL_STATE = `${PREFIX}:seal-state`

/** `refused` of a service that is not to seal: no fault. */
export const SEALS_OFF = 'off, as SEALS=off of the service says'

/** String: the clock of Redis as it was read last, epoch milliseconds. */
export const CLOCK = `${PREFIX}:clock`
