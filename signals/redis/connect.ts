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

/** Why Redis takes no write at all, by the word with which it refuses one, and what mends it. */
const WRITES_REFUSED = {
  OOM: 'its memory is full: give it more',
  MISCONF: 'it cannot write to its disk: make room there',
  READONLY: 'it is a replica: name its primary in REDIS_URL, or promote it',
  NOREPLICAS: 'it has fewer replicas than it demands: bring them back',
} as const

type WriteRefusal = keyof typeof WRITES_REFUSED

/**
 * Redis answers, and refuses every write: nothing of the command that was refused was done. The message is a sentence for
 * the operator, with the remedy.
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
 * WritesRefusedError; what Redis refuses of the command itself passes.
 */
export async function askRedis<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw new RedisDownError(error)
    throw classifyRefusal(error)
  }
}

/**
 * What a refusal of Redis is: a WritesRefusedError or a RedisDownError where it says something of the server, and the error
 * itself where it says something of the command. The one place that reads these words, whether a command met them or a
 * script inside of itself.
 */
export function classifyRefusal(error: Error): Error {
  const refusal = CANNOT_WRITE.exec(error.message)?.[1]
  if (refusal !== undefined) return new WritesRefusedError(refusal as WriteRefusal, error) // the pattern is made of them
  return OUT_OF_SERVICE.test(error.message) ? new RedisDownError(error) : error
}

/** Before it a Redis below 7 tells which script it was: `ERR Error running script (...): @user_script: 5: -OOM ...`. */
const SCRIPT_FRAME = '^(?:.*@user_script.*: -)?'

/** Refusals before anything was done. A script meets them at its first write, and never after it. */
const CANNOT_WRITE = new RegExp(`${SCRIPT_FRAME}(${Object.keys(WRITES_REFUSED).join('|')})\\b`)

/** Refusals that say something of the server, and nothing of the command. */
const OUT_OF_SERVICE = new RegExp(`${SCRIPT_FRAME}(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\\b`)
