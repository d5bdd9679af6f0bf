import { type ChainableCommander, Redis, type RedisOptions } from 'ioredis'

/** Options of a connection; how replies are mapped is fixed. */
type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>

/** Subscribers are promised one second for everything together. */
const COMMAND_TIMEOUT_MS = 1_500

/** Waits between reconnections; the last one repeats. */
const RECONNECT_MS = [50, 100, 250, 500, 1_000]

export class RedisDownError extends Error {
  constructor(cause: unknown) {
    super(`Redis does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'RedisDownError'
  }
}

/** Why Redis refuses all writes, by the word of its reply, with the fix. */
const WRITES_REFUSED = {
  OOM: 'its memory is full: increase maxmemory',
  MISCONF: 'it cannot write to its disk: free space there',
  READONLY: 'it is a replica: set REDIS_URL to its primary, or promote it',
  NOREPLICAS: 'it has fewer replicas than min-replicas-to-write: start them',
  UNSAFE: 'it could lose what it acknowledges: correct its configuration',
} as const

type WriteRefusal = keyof typeof WRITES_REFUSED

/**
 * Redis answers but refuses every write: the command did nothing. The message is for the operator and has the fix.
 */
export class WritesRefusedError extends RedisDownError {
  readonly refusal: WriteRefusal

  constructor(refusal: WriteRefusal, cause: unknown) {
    super(cause)
    this.refusal = refusal
    this.message = `Redis takes no writes, ${WRITES_REFUSED[refusal]}`
    this.name = 'WritesRefusedError'
  }
}

/**
 * Creates a connection that fails fast: commands do not wait for a Redis that is away, and are resent at most once.
 * It reconnects for ever. `onError` gets its errors, which would end the process without a listener.
 */
export function connectRedis(url: string, onError: (error: Error) => void, more: ConnectionOptions = {}) {
  const options: ConnectionOptions = {
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    lazyConnect: true,
    retryStrategy: attempt => RECONNECT_MS[Math.min(attempt, RECONNECT_MS.length) - 1]!,
    ...more,
  }
  const redis = new Redis(url, options)
  redis.on('error', onError)
  return redis
}

/**
 * Runs a command. Throws RedisDownError for every failure of the connection, WritesRefusedError if all writes are
 * refused, and Redis's own errors about the command.
 */
export async function askRedis<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (error instanceof RedisDownError) throw error
    if (!(error instanceof Error && error.name === 'ReplyError')) throw new RedisDownError(error)
    throw classifyRefusal(refusalIn(error))
  }
}

/** Runs the commands of a pipeline or a transaction, and returns their replies. Throws as askRedis, the first error of any of them. */
export const askAll = (pipeline: ChainableCommander): Promise<unknown[]> =>
  askRedis(async () =>
    ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error !== null) throw error
      return reply
    }),
  )

/** The keys that begin so, in blocks of about `count`; a key may come twice. */
export async function* scanKeys(redis: Redis, beginning: string, count: number) {
  let cursor = '0'
  do {
    const [next, keys] = await askRedis(() => redis.scan(cursor, 'MATCH', `${beginning}*`, 'COUNT', count))
    cursor = next
    if (keys.length > 0) yield keys
  } while (cursor !== '0')
}

/** A transaction is discarded if one of its commands was refused, and that refusal says why. */
const refusalIn = (error: Error & { readonly previousErrors?: readonly Error[] }): Error =>
  error.previousErrors?.[0] ?? error

/**
 * Classifies an error reply: WritesRefusedError or RedisDownError if it is about the server, else the error itself.
 * Handles replies to commands and errors inside scripts.
 */
export function classifyRefusal(error: Error): Error {
  const refusal = CANNOT_WRITE.exec(error.message)?.[1]
  if (refusal !== undefined) return new WritesRefusedError(refusal as WriteRefusal, error) // the pattern is made of them
  return OUT_OF_SERVICE.test(error.message) ? new RedisDownError(error) : error
}

/** Before version 7 Redis prefixes errors: `ERR Error running script (...): @user_script: 5: -OOM ...`. */
const SCRIPT_FRAME = '^(?:.*@user_script.*: -)?'

/** Refusals before anything was done: a script gets them at its first write and never later. */
const CANNOT_WRITE = new RegExp(`${SCRIPT_FRAME}(${Object.keys(WRITES_REFUSED).join('|')})\\b`)

/** Errors about the server, not the command. */
const OUT_OF_SERVICE = new RegExp(`${SCRIPT_FRAME}(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\\b`)
