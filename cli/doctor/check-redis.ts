import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { assertThere } from '#signals/log/guard.ts'
import { readHighWater, readLogEnd } from '#signals/log/high-water.ts'
import { LOST_KEY, sealFault } from '#signals/outbox/rekey.ts'
import { createSecretBox } from '#signals/outbox/secret-box.ts'
import { durabilityProblems } from '#signals/redis/boot-checks.ts'
import { CLOCK_TOLERANCE_MS, readClockDifference } from '#signals/redis/clock.ts'
import { askRedis, connectRedis } from '#signals/redis/connect.ts'
import { ifThere } from '#storage/error-code.ts'
import { openIfRuns, ownRedisFolder, reachRedis } from '../outside/redis-url.ts'
import { readKeyRing } from '../settings/generated-secrets.ts'
import { check, ok, problem, skipped, warning } from './check.ts'

export const signalsRedis = check('redis', [], async ({ environment, privateStore, runtime }) => {
  const { REDIS_URL, DATA_FOLDER: folder } = environment
  const stranger = REDIS_URL === null ? await strangerIn(folder) : null
  if (stranger !== null)
    return problem(
      `${stranger} belongs to another user than ${folder}: the Redis of the service cannot use it`,
      `run \`chown -R --reference=${folder} ${ownRedisFolder(folder)}\`, and every command as the user of the service`,
    )
  const redis = await openIfRuns(environment)
  if (redis === null) return skipped('REDIS_URL is not set: `serve signals` starts a Redis of its own')
  try {
    const unsafe = await durabilityProblems(redis)
    if (unsafe.length > 0 && !environment.ALLOW_UNSAFE_REDIS)
      return problem(
        `it could lose an acknowledged signal: ${unsafe.join('; ')}`,
        'set these in its configuration, or ALLOW_UNSAFE_REDIS=yes if its provider guarantees durability',
      )
    await assertThere(redis, await readHighWater(privateStore), await readLogEnd(privateStore))
    const ring = await readKeyRing(environment).catch(() => null) // what is wrong with it is found by another check
    const fault = ring && (await sealFault(redis, createSecretBox(ring, runtime.drawBytes)))
    if (fault !== null)
      return problem(
        `SECRET_KEY does not fit it: ${fault}`,
        `set the key that it was sealed with; ${LOST_KEY}`,
      )
    const skewMs = await readClockDifference(redis, runtime.now)
    if (skewMs > CLOCK_TOLERANCE_MS)
      return warning(
        `its clock and that of this machine differ by ${(skewMs / 1_000).toFixed(1)} s`,
        'let a time service set both clocks',
      )
    const why = unsafe.length === 0 ? 'keeps what it acknowledges' : 'allowed by ALLOW_UNSAFE_REDIS'
    return ok(`version ${await versionOf(redis)}, ${why}`)
  } finally {
    redis.disconnect()
  }
})

/** A file of the own Redis, or its folder, that another user made, as a command that ran as root; null without one. */
async function strangerIn(dataFolder: string): Promise<string | null> {
  const folder = ownRedisFolder(dataFolder)
  const names = await ifThere(readdir(folder, { recursive: true }), null)
  if (names === null) return null
  const { uid } = await stat(dataFolder)
  for (const path of [folder, ...names.map(name => join(folder, name))])
    if ((await ifThere(stat(path), { uid })).uid !== uid) return path // Redis removes files meanwhile
  return null
}

export const fleetRedis = check('fleet redis', [], async ({ environment: { FLEET_URL } }) => {
  if (FLEET_URL === null) return skipped('FLEET_URL is not set: builds run on one machine')
  const redis = connectRedis(FLEET_URL, () => {}, { retryStrategy: () => null }) // commands report their own errors
  await reachRedis(redis, 'FLEET_URL')
  return ok(`version ${await versionOf(redis).finally(() => redis.disconnect())}`)
})

const versionOf = async (redis: Redis): Promise<string> =>
  /^redis_version:(\S+)/m.exec(await askRedis(() => redis.info('server')))?.[1] ?? 'unknown'
