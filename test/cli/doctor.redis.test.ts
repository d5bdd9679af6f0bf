// What `highwater doctor` finds about a Redis.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOwnRedis } from '#cli/signals/own-redis.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { startTestRedis, type TestRedis } from '../support/servers/redis.ts'
import { madeUp, run } from './made-up.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(() => server.stop())

async function find(check: string, env: NodeJS.ProcessEnv, now = () => Date.now()) {
  const cwd = await temporaryFolder()
  const { out } = await run(['doctor', '--json'], { cwd, now, env: { DATA_FOLDER: cwd, ...env } })
  const { findings } = JSON.parse(out) as { findings: { check: string }[] }
  return findings.find(each => each.check === check)
}

test('doctor finds a Redis that keeps what it acknowledges sound, with its version', async () => {
  const ok = { state: 'ok', says: expect.stringMatching(/^version \d+\.\d/) }
  expect(await find('redis', { REDIS_URL: server.url })).toMatchObject(ok)
  expect(await find('fleet redis', { FLEET_URL: server.url })).toMatchObject(ok)
})

test('doctor looks at the Redis of the service while it runs', async () => {
  const dataFolder = await temporaryFolder()
  await mkdir(join(dataFolder, 'redis'))
  const own = await startOwnRedis(madeUp().runtime, dataFolder, () => {})
  try {
    expect(await find('redis', { DATA_FOLDER: dataFolder })).toMatchObject({
      state: 'ok',
      says: expect.stringMatching(/^version \d+\.\d.*, keeps what it acknowledges$/),
    })
  } finally {
    await own.stop()
  }
})

test('doctor warns of a Redis whose clock differs', async () => {
  const late = await find('redis', { REDIS_URL: server.url }, () => Date.now() - 60_000)
  expect(late).toMatchObject({ state: 'warning', says: expect.stringMatching(/differ by (59|60)\.\d s/) })
})

test('doctor reports a Redis that evicts, unless its operator allows it', async () => {
  const redis = connectRedis(server.url, () => {})
  await redis.connect()
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  redis.disconnect()
  expect(await find('redis', { REDIS_URL: server.url })).toMatchObject({
    state: 'problem',
    says: expect.stringContaining('maxmemory-policy is allkeys-lru'),
  })
  expect(await find('redis', { REDIS_URL: server.url, ALLOW_UNSAFE_REDIS: 'yes' })).toMatchObject({
    state: 'ok',
  })
})
