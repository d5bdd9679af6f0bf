// A profile is kept: when Redis is started again, and when it comes back from a backup; the counts of the preview are not.
import { expect, test } from 'vitest'
import { restoreBackup } from '#signals/backup/restore-backup.ts'
import { backupLines } from '#signals/backup/write-backup.ts'
import { createPreviewLimits } from '#signals/program/preview-limits.ts'
import { readProfile, saveProfile } from '#signals/program/profile.ts'
import { PREVIEW_LIMIT_PREFIX } from '#signals/redis/keys.ts'
import { testRing } from '../../support/signals/operator.ts'
import { redis, server, useOwnRedis } from '../../support/signals/own-redis.ts'
import { NOW_MS } from '../../support/signals/signals.ts'

useOwnRedis()

const PROFILE = { equity_usd: 0.1 + 0.2 + 1, contribution_cadence_bars: 7 }
const STORED = { ...PROFILE, updated_utc: '2026-11-21T00:00:05Z' }

test('a profile is there after a crash of Redis, to the last bit', async () => {
  await saveProfile(redis, 'acme', PROFILE, NOW_MS)
  await server.kill()
  await server.restart()
  expect(await readProfile(await server.connect(), 'acme')).toEqual(STORED)
  await expect.poll(() => redis.status).toBe('ready')
})

test('a backup holds the profiles and not the counts', async () => {
  await saveProfile(redis, 'acme', PROFILE, NOW_MS)
  const fail = (error: unknown): never => {
    throw error
  }
  await createPreviewLimits(redis, () => 0, fail)('preview', '203.0.113.7')
  await redis.persist(`${PREVIEW_LIMIT_PREFIX}preview:203.0.113.7`) // what expires is left out anyhow
  const lines: string[] = []
  for await (const line of backupLines(redis, testRing(), NOW_MS)) lines.push(line)
  expect(lines.filter(line => line.includes('203.0.113.7'))).toEqual([])
  await redis.flushall()
  async function* from(): AsyncGenerator<string> {
    yield* lines
  }
  const order = { lines: from, highWater: 0, newEpoch: () => 'e', nowMs: NOW_MS, isForced: false }
  await restoreBackup({ redis, ring: testRing(), ...order })
  expect(await readProfile(redis, 'acme')).toEqual(STORED)
})

test('what is stored and is no profile is an error, and not another basket', async () => {
  await redis.set('{hw}:profile:acme', '{"equity_usd":"1000"}')
  await expect(readProfile(redis, 'acme')).rejects.toThrow('equity_usd')
})
