// Scripts of Redis, and records as Redis returns them: lists of names and values, from a script as one string.
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import { askRedis, classifyRefusal } from './connect.ts'

const digests = new Map<string, string>()

/** Runs a script: sent once, and by its digest from then on. Throws RedisDownError, or its own error. */
export const runScript = (
  redis: Redis,
  script: string,
  keys: readonly string[],
  ...args: readonly (string | number)[]
): Promise<unknown> =>
  askRedis(async () => {
    const digest = digests.get(script) ?? createHash('sha1').update(script).digest('hex')
    digests.set(script, digest)
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return redis.eval(script, keys.length, ...keys, ...args)
    }
  })

/** Whoever else changes the same has done so before the next try. */
const MOST_TRIES = 20

/** Reads, and writes what follows from it, until nobody wrote between: `attempt` resolves with null if somebody did. Throws `conflict`. */
export async function tryAgain<T>(what: string, attempt: () => Promise<T | null>): Promise<T> {
  for (let i = 0; i < MOST_TRIES; i++) {
    const done = await attempt()
    if (done !== null) return done
  }
  throw new ApiError('conflict', `${what} is being changed by others: try again`)
}

/** Redis does nothing else during one command: a millisecond at most. */
const MOST_CALLS = 64

type Call = { readonly args: readonly (string | number)[] } & Omit<PromiseWithResolvers<unknown>, 'promise'>

/**
 * A script that runs many calls as one command, because under load a command costs as much as what it does. `text`
 * defines `run`, which gets the `width` arguments of one call and returns a list. Calls of one turn of the event loop
 * run together; a call that fails does not end the others. Each resolves and throws as `runScript` does.
 */
export function createSharedScript(text: string, keys: readonly string[], width: number) {
  const script = `${text}
local replies = {}
for i = 1, #ARGV, ${width} do
  local is_done, reply = pcall(run, unpack(ARGV, i, i + ${width - 1}))
  replies[#replies + 1] = is_done and reply or type(reply) == 'table' and reply or {err = tostring(reply)}
end
return replies
`
  const gathering = new WeakMap<Redis, Call[]>()
  const flush = (redis: Redis, calls: readonly Call[]): void => {
    gathering.delete(redis)
    for (let i = 0; i < calls.length; i += MOST_CALLS)
      void runTogether(redis, script, keys, calls.slice(i, i + MOST_CALLS))
  }
  return (redis: Redis, ...args: readonly (string | number)[]): Promise<unknown> => {
    if (args.length !== width) throw new Error(`${args.length} arguments for a script that takes ${width}`)
    const { promise, ...settled } = Promise.withResolvers<unknown>()
    const calls = gathering.get(redis) ?? []
    if (calls.push({ args, ...settled }) === 1) {
      gathering.set(redis, calls)
      setImmediate(() => flush(redis, calls))
    }
    return promise
  }
}

async function runTogether(redis: Redis, script: string, keys: readonly string[], calls: readonly Call[]) {
  try {
    const args = calls.flatMap(call => call.args)
    const replies = (await runScript(redis, script, keys, ...args)) as unknown[] // one for each call
    for (const [i, { resolve, reject }] of calls.entries()) {
      const reply = replies[i]
      if (reply instanceof Error) reject(classifyRefusal(reply))
      else resolve(reply)
    }
  } catch (error) {
    for (const { reject } of calls) reject(error)
  }
}

/** Between the names and values of a record as one string, by which an unchanged record is recognised without parsing. No value contains it. */
const BETWEEN = '\0'

/** Lua: `text(list)` joins a list; '' for an empty one. */
export const TEXT_FUNCTION = `
local function text(list) return table.concat(list, '\\0') end
`

/** The fields of a text that was made of pairs of name and value. */
export const toRecord = (text: string): Record<string, string> =>
  fromPairs(text === '' ? [] : text.split(BETWEEN))

export function fromPairs(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) record[flat[i]!] = flat[i + 1]!
  return record
}

/**
 * A parser that caches the last text of each owner: the same text gives the same value, which callers must not
 * modify.
 */
export function rememberText<T>(
  mostOwners: number,
  parse: (text: string, owner: string) => T,
): (text: string, owner: string) => T {
  const known = new LRUCache<string, { readonly text: string; readonly value: T }>({ max: mostOwners })
  return (text, owner) => {
    const last = known.get(owner)
    if (last?.text === text) return last.value
    const value = parse(text, owner)
    known.set(owner, { text, value })
    return value
  }
}
