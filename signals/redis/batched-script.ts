// Runs many small calls of one script as one command: under load the cost is the command, its reply and its fsync.
import type { Redis } from 'ioredis'
import { classifyRefusal } from './connect.ts'
import { createScript, runScript, type Script } from './script.ts'

/** A script whose calls may be batched: all have the same keys and the same number of arguments. */
export type BatchedScript = {
  readonly script: Script
  readonly keys: readonly string[]
  readonly width: number
}

/** Redis does nothing else during one command: some milliseconds at most. */
const MOST_CALLS = 64

type Call = {
  readonly args: readonly (string | number)[]
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Calls of this turn of the event loop, by connection and script. */
const gathering = new WeakMap<Redis, Map<BatchedScript, Call[]>>()

/**
 * Creates a script that can be batched. `text` defines `one(...)`, which takes the arguments of one call and returns
 * a list. A failed call does not end the others; as in every script, what it has written stays.
 */
export const createBatchedScript = (text: string, keys: readonly string[], width: number): BatchedScript => ({
  script: createScript(`${text}
local replies = {}
for first = 1, #ARGV, ${width} do
  local is_well, reply = pcall(one, unpack(ARGV, first, first + ${width} - 1))
  if not is_well then reply = {'error', type(reply) == 'table' and reply.err or tostring(reply)} end
  replies[#replies + 1] = reply
end
return replies
`),
  keys,
  width,
})

/** Runs one call, batched with the others of this turn of the event loop. Throws as `runScript` does. */
export function runBatched(
  redis: Redis,
  batched: BatchedScript,
  ...args: readonly (string | number)[]
): Promise<unknown> {
  if (args.length !== batched.width)
    throw new Error(`${args.length} arguments for a script that takes ${batched.width}`)
  return new Promise((resolve, reject) => {
    const calls = callsOf(redis, batched)
    calls.push({ args, resolve, reject })
    if (calls.length === 1) setImmediate(() => flush(redis, batched))
  })
}

function callsOf(redis: Redis, batched: BatchedScript): Call[] {
  const scripts = gathering.get(redis) ?? new Map<BatchedScript, Call[]>()
  gathering.set(redis, scripts)
  const calls = scripts.get(batched) ?? []
  scripts.set(batched, calls)
  return calls
}

function flush(redis: Redis, batched: BatchedScript): void {
  const calls = callsOf(redis, batched).splice(0)
  for (let i = 0; i < calls.length; i += MOST_CALLS) {
    void runTogether(redis, batched, calls.slice(i, i + MOST_CALLS))
  }
}

async function runTogether(
  redis: Redis,
  { script, keys }: BatchedScript,
  calls: readonly Call[],
): Promise<void> {
  try {
    const args = calls.flatMap(call => call.args)
    const replies = (await runScript(redis, script, keys, ...args)) as unknown[][] // one for each call
    for (const [i, { resolve, reject }] of calls.entries()) {
      const reply = replies[i]!
      if (reply[0] === 'error') reject(toError(String(reply[1])))
      else resolve(reply)
    }
  } catch (error) {
    for (const { reject } of calls) reject(error)
  }
}

/** The error of one call: of Redis itself, such as a full memory, or of the script. */
function toError(text: string): Error {
  const told = new Error(text)
  const error = classifyRefusal(told)
  return error === told ? new Error(`a script failed: ${text}`) : error
}
