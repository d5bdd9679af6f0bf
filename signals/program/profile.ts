// A client's profile for its personal basket, exactly as requested.
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { programProfile, type SimulationInput } from '#core/contract/payloads/program.ts'
import { askRedis } from '../redis/connect.ts'
import { profileKey } from '../redis/keys.ts'

/** `updated_utc` is when it was stored. */
export type Profile = SimulationInput & { readonly updated_utc: string }

const stored = programProfile.pick({ equity_usd: true, contribution_cadence_bars: true, updated_utc: true })

export async function saveProfile(
  redis: Redis,
  client: string,
  { equity_usd, contribution_cadence_bars }: SimulationInput,
  nowMs: number,
): Promise<Profile> {
  const profile = { equity_usd, contribution_cadence_bars, updated_utc: toIsoInstant(nowMs) }
  await askRedis(() => redis.set(profileKey(client), JSON.stringify(profile)))
  return profile
}

/** The profile of a client, or null. Throws if it is malformed. */
export async function readProfile(redis: Redis, client: string): Promise<Profile | null> {
  const text = await askRedis(() => redis.get(profileKey(client)))
  return text === null ? null : stored.parse(JSON.parse(text))
}
