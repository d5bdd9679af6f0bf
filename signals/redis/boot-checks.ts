import type { Redis } from 'ioredis'

/** What a Redis must be set to, so that what it has acknowledged is on the disk and stays there. */
const NEEDED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}

/**
 * The settings under which this Redis could lose an acknowledged signal, a sentence each; none where it is safe. A
 * managed Redis may refuse to tell: then that is the sentence.
 */
export async function durabilityProblems(redis: Redis): Promise<readonly string[]> {
  const problems: string[] = []
  for (const [name, needed] of Object.entries(NEEDED)) {
    const found = await settingOf(redis, name)
    if (found !== needed) problems.push(`${name} is ${found ?? 'not told'} and must be ${needed}`)
  }
  return problems
}

const settingOf = (redis: Redis, name: string): Promise<string | null> =>
  redis.config('GET', name).then(
    reply => (Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null),
    (error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') return null
      throw error
    },
  )

/** Throws a sentence with the remedy unless this Redis keeps what it acknowledges. */
export async function assertDurable(redis: Redis): Promise<void> {
  const problems = await durabilityProblems(redis)
  if (problems.length === 0) return
  throw new Error(
    `this Redis could lose an acknowledged signal: ${problems.join('; ')}. Set these in its configuration, or, where ` +
      'its provider promises durability in another way, set ALLOW_UNSAFE_REDIS=yes',
  )
}
