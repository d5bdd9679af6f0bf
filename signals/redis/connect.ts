import { Redis, type RedisOptions } from 'ioredis'

/** What of a connection may differ; how replies are read is the same for all. */
export type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>

/** A command that waits longer failed: a second is what a subscriber is promised for everything together. */
const COMMAND_TIMEOUT_MS = 1_500

/** Waits between attempts to reach Redis again, the last one for ever. */
const RECONNECT_MS = [50, 100, 250, 500, 1_000]

export class RedisDownError extends Error {
  constructor(cause: unknown) {
    super(`Redis cannot be asked: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'RedisDownError'
  }
}

/** Redis answers, and refuses every write: nothing of the command that was refused was done. */
export class RedisFullError extends RedisDownError {
  constructor(cause: unknown) {
    super(cause)
    this.message = `Redis is full or cannot write: ${cause instanceof Error ? cause.message : String(cause)}`
    this.name = 'RedisFullError'
  }
}

/**
 * A connection that fails quickly and says so: no command waits for a Redis that is away, and none is tried more than
 * once more. It reconnects for ever. `onError` is told what happens to it; without a listener it would end the process.
 */
export function connectRedis(
  url: string,
  onError: (error: Error) => void,
  more: ConnectionOptions = {},
): Redis {
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
 * Runs a command and turns every failure of the connection into a RedisDownError, and a refusal of all writes into a
 * RedisFullError; what Redis refuses of the command itself passes.
 */
export async function askRedis<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw new RedisDownError(error)
    if (CANNOT_WRITE.test(error.message)) throw new RedisFullError(error)
    throw OUT_OF_SERVICE.test(error.message) ? new RedisDownError(error) : error
  }
}

/** Refusals before anything was done: no memory, no disk, or a replica. A script meets them at its first write. */
const CANNOT_WRITE = /^(OOM|MISCONF|READONLY)/

/** Refusals that say something of the server, and nothing of the command. */
const OUT_OF_SERVICE = /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/
