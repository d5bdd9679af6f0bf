import type { Redis } from 'ioredis'
import { ApiError } from '#core/contract/errors.ts'
import { findClient } from '../clients/clients.ts'
import { commit } from '../log/commit.ts'
import { testContent } from './test-fire.ts'

export type FireTestParts = {
  readonly redis: Redis
  readonly now: () => number
  /** A name that nobody else has. */
  readonly newToken: () => string
  /** The strategies of the served dataset: the first one stands in for a client that is entitled to none yet. */
  readonly aliases: () => readonly string[]
}

/**
 * Fires a test for one client, which goes the way of every signal: log, ledger, queue, webhook. Resolves with its number
 * when it is on the disk. Throws `not_found`, `conflict` without any alias, or RedisDownError.
 */
export async function fireTest(parts: FireTestParts, client: string): Promise<number> {
  const alias = await testAliasOf(parts, client)
  return commitTest(parts, client, testContent('fire', alias, parts.newToken(), parts.now()))
}

/** The alias under which a client gets a test: its own first one, else the first there is. */
export async function testAliasOf({ redis, aliases }: FireTestParts, client: string): Promise<string> {
  const record = await findClient(redis, client)
  const alias = record.aliases[0] ?? aliases()[0]
  if (alias !== undefined) return alias
  throw new ApiError(
    'conflict',
    `a test needs the alias of a strategy: entitle '${client}' to one, or publish a dataset first`,
  )
}

/** Writes a test to the log, for one client alone. */
export async function commitTest(
  { redis, now }: FireTestParts,
  client: string,
  content: ReturnType<typeof testContent>,
): Promise<number> {
  const outcome = await commit(redis, [{ content, onlyFor: client }], now())
  if (outcome.kind !== 'committed') throw new Error('a test has no cursor to miss, and no halt keeps it back')
  return outcome.signals[0]!.seq // one was committed
}
