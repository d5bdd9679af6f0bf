// The address of the service's own Redis, as other commands read it.
import { execFile } from 'node:child_process'
import { chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { ForeignPortError, ownConnector } from '#cli/outside/own-connector.ts'
import { openRedis, ownRedisUrl, passwordsIn, publishRedisUrl } from '#cli/outside/redis-url.ts'
import { freePort } from '#cli/services/free-port.ts'
import { connectRedis } from '#signals/redis/connect.ts'
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

test('a Redis that works in another folder than ours is not used', async () => {
  await publishRedisUrl(folder, other.url)
  await expect(openRedis({ REDIS_URL: null, DATA_FOLDER: folder })).rejects.toThrow(
    'another program has the port',
  )
  const chosen = await openRedis({ REDIS_URL: other.url, DATA_FOLDER: folder })
  expect(await chosen.ping()).toBe('PONG')
  chosen.disconnect()
})

test('a program that does not work in the folder of our Redis gets no password', async () => {
  const received: string[] = []
  const program = createServer(socket => socket.on('data', data => received.push(String(data))))
  const port = await listenOn(program)
  const errors: Error[] = []
  const connectTo = (own: string) =>
    connectRedis(`redis://:secret@127.0.0.1:${port}`, error => errors.push(error), {
      Connector: ownConnector(own),
      retryStrategy: () => null,
    })
  await expect(connectTo(folder).connect()).rejects.toThrow()
  expect([errors, received]).toEqual([[new ForeignPortError(port)], []])
  const here = connectTo(process.cwd()) // where this process and its program work
  here.connect().catch(() => {})
  await expect.poll(() => received.join('')).toContain('secret')
  here.disconnect()
})

test('a connection that was lost is not made again to a Redis that works in another folder', async () => {
  const data = await temporaryFolder()
  const own = await ownRedis(join(data, 'redis'))
  await publishRedisUrl(data, own.url)
  const redis = await openRedis({ REDIS_URL: null, DATA_FOLDER: data })
  expect(await redis.ping()).toBe('PONG')
  await publishRedisUrl(data, other.url)
  const errors: Error[] = [] // the first may be of the old address
  redis.on('error', error => errors.push(error))
  await own.kill()
  await expect.poll(() => errors.at(-1)).toEqual(new ForeignPortError(Number(new URL(other.url).port)))
  await expect(redis.ping()).rejects.toThrow()
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
