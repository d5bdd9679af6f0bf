// The address of the service's own Redis, as other commands read it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRedis, ownRedisUrl, passwordsIn, publishRedisUrl } from '#cli/signals/redis-url.ts'
import { startTestRedis, type TestRedis } from '../support/servers/redis.ts'

let other: TestRedis
let folder: string

beforeAll(async () => {
  other = await startTestRedis()
  folder = await mkdtemp(join(tmpdir(), 'highwater-own-'))
  await mkdir(join(folder, 'redis'))
})
afterAll(async () => {
  await other.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a Redis that works in another folder is not used', async () => {
  await publishRedisUrl(folder, other.url)
  await expect(openRedis({ redisUrl: null }, folder)).rejects.toThrow('another Redis has the port')
  const chosen = await openRedis({ redisUrl: other.url }, folder)
  expect(await chosen.ping()).toBe('PONG')
  chosen.disconnect()
})

test.each(['', 'x', 'redis://127.0.0.1', '127.0.0.1:6379'])('a file with %j has no address', async text => {
  await writeFile(join(folder, 'redis-url'), text)
  expect(await ownRedisUrl(folder)).toBeNull()
})

test('the passwords of an address are the written and the decoded one, whatever is escaped', () => {
  expect(passwordsIn('redis://:p%40ss%2Fword@127.0.0.1')).toEqual(['p%40ss%2Fword', 'p@ss/word'])
  expect(passwordsIn('redis://:a%zz@127.0.0.1')).toEqual(['a%zz', 'a%zz'])
})
