// The address of the service's own Redis, as other commands read it.
import { execFile } from 'node:child_process'
import { chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { openIfRuns, openRedis, ownRedisUrl, passwordsIn, publishRedisUrl } from '#cli/outside/redis-url.ts'
import { freePort } from '#cli/services/free-port.ts'
import { listenOn } from '../../support/servers/own-port.ts'
import { ownRedis, type SharedRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const isRoot = process.getuid?.() === 0

let other: SharedRedis
let folder: string

beforeAll(async () => {
  other = await sharedRedis()
  folder = await temporaryFolder()
  await mkdir(join(folder, 'redis'))
})

test('a program that has the port of our Redis while it is away gets no connection', async () => {
  const connected: unknown[] = []
  const program = createServer(socket => connected.push(socket))
  await publishRedisUrl(folder, `redis://:secret@127.0.0.1:${await listenOn(program)}`)
  await expect(openRedis({ REDIS_URL: null, DATA_FOLDER: folder })).rejects.toThrow('start it, or name it')
  expect(await openIfRuns({ REDIS_URL: null, DATA_FOLDER: folder })).toBeNull()
  expect(connected).toEqual([])
  const chosen = await openRedis({ REDIS_URL: other.url, DATA_FOLDER: folder })
  expect(await chosen.ping()).toBe('PONG')
  chosen.disconnect()
})

test('our Redis is reached in its folder alone, however long its path is, before and after it has ended', async () => {
  const data = join(await temporaryFolder(), 'x'.repeat(100))
  await mkdir(data)
  const own = await ownRedis(join(data, 'redis'))
  await publishRedisUrl(data, own.url)
  const redis = await openRedis({ REDIS_URL: null, DATA_FOLDER: data })
  expect(await redis.ping()).toBe('PONG')
  await publishRedisUrl(data, other.url)
  await own.kill()
  await expect.poll(() => redis.status).toBe('reconnecting')
  await expect(redis.ping()).rejects.toThrow()
  await own.restart()
  await publishRedisUrl(data, own.url)
  await expect.poll(() => redis.ping().catch(() => null)).toBe('PONG')
  redis.disconnect()
})

// Only root can give a folder away.
test.runIf(isRoot)(
  "root is refused in the folder of another user's Redis, with the user's name (skipped unless root runs it)",
  async () => {
    const there = await temporaryFolder()
    await chown(there, 65_534, 65_534)
    const root = join(import.meta.dirname, '../../..')
    const script = join(root, 'deploy/servers/redis-server.sh')
    const started = promisify(execFile)(script, [
      join(root, '.servers/redis'),
      there,
      String(await freePort()),
    ])
    await expect(started).rejects.toMatchObject({
      stderr: `${there} belongs to the user nobody: run this as that user, or set DATA_FOLDER to another folder\n`,
    })
    expect(await readdir(there)).toEqual([])
  },
)

test.each(['', 'x', 'redis://127.0.0.1', '127.0.0.1:6379'])(
  'an address file with the text %j has no address',
  async text => {
    await writeFile(join(folder, 'redis-url'), text)
    expect(await ownRedisUrl(folder)).toBeNull()
  },
)

test('the passwords of an address are the written and the decoded one, whatever is escaped', () => {
  expect(passwordsIn('redis://:p%40ss%2Fword@127.0.0.1')).toEqual(['p%40ss%2Fword', 'p@ss/word'])
  expect(passwordsIn('redis://:a%zz@127.0.0.1')).toEqual(['a%zz', 'a%zz'])
})
