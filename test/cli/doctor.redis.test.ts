// What `highwater doctor` finds about a Redis.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startOwnRedis } from '#cli/services/own-redis.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { atEnd, atEndOfProcess } from '../support/ends.ts'
import { secretKeyOf, setWebhook } from '../support/signals/operator.ts'
import { redis, server, useRedis } from '../support/signals/test-redis.ts'
import { madeUp, run } from './made-up.ts'

useRedis()

async function find(check: string, env: NodeJS.ProcessEnv, now = () => Date.now()) {
  const cwd = await temporaryFolder()
  const { out } = await run(['doctor', '--json'], { cwd, now, env: { DATA_FOLDER: cwd, ...env } })
  const { findings } = JSON.parse(out) as { findings: { check: string }[] }
  return findings.find(each => each.check === check)
}

test('doctor finds the Redis of the service sound while it runs, and that of a fleet', async () => {
  const dataFolder = await temporaryFolder()
  await mkdir(join(dataFolder, 'redis'))
  const own = await startOwnRedis(madeUp().runtime, dataFolder, () => {})
  atEndOfProcess(own.stop)
  expect(await find('redis', { DATA_FOLDER: dataFolder })).toMatchObject({
    state: 'ok',
    says: expect.stringMatching(/^version \d+\.\d.*, keeps what it acknowledges$/),
  })
  expect(await find('fleet redis', { FLEET_URL: server.url })).toMatchObject({ state: 'ok' })
})

test('doctor warns of a Redis whose clock differs', async () => {
  const late = await find('redis', { REDIS_URL: server.url }, () => Date.now() - 3_600_000)
  expect(late).toMatchObject({
    state: 'warning',
    says: expect.stringMatching(/differ by (3599|36\d\d)\.\d s/),
  })
})

test('doctor reports a Redis that evicts, unless its operator allows it', async () => {
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  atEnd(() => redis.config('SET', 'maxmemory-policy', 'noeviction'))
  expect(await find('redis', { REDIS_URL: server.url })).toMatchObject({
    state: 'problem',
    says: expect.stringContaining('maxmemory-policy is allkeys-lru'),
  })
  expect(await find('redis', { REDIS_URL: server.url, ALLOW_UNSAFE_REDIS: 'yes' })).toMatchObject({
    state: 'ok',
  })
})

test('a SECRET_KEY that does not open the webhooks in Redis is found by doctor, and no service starts with it', async () => {
  await setWebhook(redis, 'acme')
  const SECRET_KEY = secretKeyOf('k2')
  const env = { REDIS_URL: server.url, SECRET_KEY, OPERATOR_TOKEN: 'o'.repeat(64) }
  const misfit = expect.stringContaining(
    "the webhook of 'acme' cannot be read: a secret is encrypted with the key k1",
  )
  expect(await find('redis', env)).toMatchObject({ state: 'problem', says: misfit })
  const cwd = await temporaryFolder()
  const started = await run(['serve', 'signals'], { cwd, env: { DATA_FOLDER: cwd, ...env } })
  expect(started).toMatchObject({ code: 2, err: misfit })
})
