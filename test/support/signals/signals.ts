// Clients, keys and signals for tests, with fixed random bytes and a fixed clock.
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { SignalContent } from '#core/contract/signal.ts'
import { issueKey } from '#signals/clients/api-keys.ts'
import { activateClient, createClient, entitleClient } from '#signals/clients/clients.ts'
import type { RandomBytes } from '#signals/clients/token.ts'
import { commit, type NewSignal } from '#signals/log/commit.ts'

export const NOW_MS = Date.parse('2026-11-21T00:00:05Z')

/** Who ordered what a test orders. */
export const ORDERED = { by: 'operator:jane', atMs: NOW_MS, why: null } as const

export const PROGRAM_ALIAS = 'accumulator'

/** Bytes that look random and are the same in every run. */
export function seededBytes(seed: string): RandomBytes {
  let draws = 0
  return size => createHash('shake256', { outputLength: size }).update(`${seed} ${draws++}`).digest()
}

/** The content of a signal; its id is the only thing that a test must choose. */
export const signalContent = (id: string, more: Partial<SignalContent> = {}): SignalContent => ({
  signal_id: id,
  alias: 'alder',
  mode: 'LIVE',
  is_test: false,
  action: 'long',
  signal_price: 50_000,
  stop: 49_000,
  base_risk_pct: 0.02,
  timestamp: '2026-11-21T00:00:00Z',
  implied_leverage: 1,
  by: 'strategy',
  ...more,
})

/** Fires one signal of an alias, or a test for one client, and gives its number. */
export async function fire(
  redis: Redis,
  id: string,
  alias: string,
  onlyFor: string | null = null,
  atMs = NOW_MS,
) {
  const isTest = onlyFor !== null
  const content = signalContent(id, { alias, is_test: isTest, mode: isTest ? 'DRY_RUN' : 'LIVE' })
  const outcome = await commit(redis, [{ content, onlyFor }], atMs)
  if (outcome.kind !== 'committed') throw new Error(`the fire was not written: ${outcome.kind}`)
  return outcome.signals[0]!.seq
}

/** Signals of one command: it ends within its time also on a machine that does much else. */
const PAGE = 200

/** Writes many signals. */
export async function commitMany(redis: Redis, signals: readonly NewSignal[]): Promise<void> {
  for (let at = 0; at < signals.length; at += PAGE) {
    await commit(redis, signals.slice(at, at + PAGE), NOW_MS)
  }
}

/** An active client with these aliases, and its key. */
export async function addClient(redis: Redis, id: string, aliases: readonly string[], random: RandomBytes) {
  await createClient(redis, id, 'standard', NOW_MS)
  await activateClient(redis, id)
  await entitleClient(redis, id, { aliases }, PROGRAM_ALIAS)
  const { token, id: keyId } = await issueKey(redis, id, random, NOW_MS)
  return { id, token, keyId }
}

/** The same Redis, whose commands run as a test wants. */
export const meddledWith = (
  redis: Redis,
  meddle: (run: () => unknown, command: string | symbol) => unknown,
): Redis =>
  new Proxy(redis, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => meddle(() => member.apply(target, args), name)
    },
  })

/** The same Redis, before each of whose scripts something happens. */
export const beforeScripts = (redis: Redis, happens: () => Promise<void>): Redis =>
  meddledWith(redis, (run, command) => (command === 'evalsha' ? happens().then(run) : run()))

/** The same Redis, to which each script is sent again, as ioredis does when a connection breaks before the reply. */
export const withLostReplies = (redis: Redis): Redis =>
  meddledWith(redis, (run, command) => (command === 'evalsha' ? Promise.resolve(run()).then(run) : run()))
