// Every key that the signals service has in Redis. The part in braces puts all of them on one node of a cluster, because
// one script writes several of them at once.

export const PREFIX = '{hw}'

/** Stream: the log. Ids are `<seq>-0`; fields `body`, `sha1`, `alias`, `to`, `at`. Never trimmed. */
export const LOG = `${PREFIX}:log`

/** Hash: signal_id -> `<seq> <sha256 of its content>`. */
export const SIGNAL_IDS = `${PREFIX}:log:ids`

/** Hash: `seq`, the number of the newest signal; a restored log begins above it. */
export const HEAD = `${PREFIX}:log:head`

/** Hash: an alias, or `test:<client>` -> number of the newest signal of it. */
export const LATEST = `${PREFIX}:log:latest`

/** String: names this history of the log; another one after a restore. */
export const EPOCH = `${PREFIX}:epoch`

/**
 * Hash of a live strategy: `cursor` (close of its last bar), `checkpoint`, `announced`, `live_from`, `mode` (the operator's
 * order), `hash:<day>` (digest of its state at the end of a day), `held:<signal_id>` (an entry kept back by a halt).
 */
export const liveKey = (alias: string): string => `${LIVE_PREFIX}${alias}`
export const LIVE_PREFIX = `${PREFIX}:live:`

/** String with an expiry: who follows a market, such as `BTCUSDT-PERP/4h`. */
export const liveLeaseKey = (market: string): string => `${PREFIX}:live-lease:${market}`

/** Set: the aliases that are halted; `*` halts all. */
export const HALTED = `${PREFIX}:halted`

/** Set: the ids of all clients. */
export const CLIENTS = `${PREFIX}:clients`

/** Hash of a client: `tier`, `status`, `aliases` (JSON), `program` (0 or 1), `created_at` (ISO), `keys_issued`. */
export const clientKey = (client: string): string => `${CLIENT_PREFIX}${client}`
export const CLIENT_PREFIX = `${PREFIX}:client:`

/** Set of a client: the ids of its live keys, two at the most. */
export const clientKeysKey = (client: string): string => `${PREFIX}:client:${client}:keys`

/**
 * Hash of a live API key, by its public id: `client`, `sha256` of the token, `number` (the how-manieth of its client), and
 * in epoch milliseconds `created_at`, `confirmed_at`, `last_used_at`.
 */
export const apiKeyKey = (id: string): string => `${PREFIX}:key:${id}`

/** String of a client: its profile of the accumulation program, JSON: `equity_usd`, `contribution_cadence_bars`, `updated_utc`. */
export const profileKey = (client: string): string => `${PREFIX}:profile:${client}`

/**
 * Before strings with an expiry, `<limit>:<address>`: how many requests of the preview an address has made in its minute.
 */
export const PREVIEW_LIMIT_PREFIX = `${PREFIX}:limit:`

/** Set: the clients with a webhook that is enabled. */
export const WEBHOOKS = `${PREFIX}:webhooks`

/**
 * Hash of a client's webhook: `url` and `secrets` (sealed), `enabled`, `disabled_why`, `lane`, `condition` (JSON), and
 * `probe_at`, until when an open breaker lets nothing through.
 */
export const webhookKey = (client: string): string => `${WEBHOOK_PREFIX}${client}`
export const WEBHOOK_PREFIX = `${PREFIX}:webhook:`

/** String with an expiry: how many webhooks a client has tried to register lately. */
export const registrationsKey = (client: string): string => `${PREFIX}:registrations:${client}`

/** Hash of a signal: client -> state of the delivery, JSON: the outbox. The text of the key is that of stored data and backups. */
export const outboxKey = (seq: number): string => `${OUTBOX_PREFIX}${seq}`
export const OUTBOX_PREFIX = `${PREFIX}:ledger:`

/** Sorted set of a client: numbers of the signals that are due for it, by themselves: the lowest is the oldest. */
export const readyKey = (client: string): string => `${READY_PREFIX}${client}`
export const READY_PREFIX = `${PREFIX}:ready:`

/** Sorted set of a client: numbers of the signals that wait for another try, by the time of it. */
export const waitingKey = (client: string): string => `${WAITING_PREFIX}${client}`
export const WAITING_PREFIX = `${PREFIX}:waiting:`

/**
 * Sorted sets: the clients of a lane that are owed anything, by when a worker is to look after them: at once, at the next
 * retry or probe, or when the lease of the worker that has them ends. A client is in one of the two.
 */
export const SCHEDULES = { fast: `${PREFIX}:owing`, slow: `${PREFIX}:owing:slow` } as const

/** String with an expiry: which worker delivers to a client. One request at a time reaches it. */
export const flightKey = (client: string): string => `${FLIGHT_PREFIX}${client}`
export const FLIGHT_PREFIX = `${PREFIX}:flight:`

/** List of a signal and client: what came of each attempt, JSON, newest last. */
export const attemptsKey = (seq: number, client: string): string => `${ATTEMPTS_PREFIX}${seq}:${client}`
export const ATTEMPTS_PREFIX = `${PREFIX}:attempts:`

/** String: the number of the last signal that the relay has put into the outbox. */
export const RELAY_CURSOR = `${PREFIX}:relay:cursor`

/** Hash: an alias, or `test:<client>` -> number of the newest signal of it that the relay has passed. */
export const RELAYED = `${PREFIX}:relay:latest`

/** String with an expiry: who relays. */
export const RELAY_LEASE = `${PREFIX}:relay:lease`

/** What earlier releases kept a queue under; nothing reads it, and a restore deletes it. */
export const OLD_QUEUE_PREFIX = `${PREFIX}:queue`
