// The address of the service's own Redis, as other commands read it.
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ForeignPortError, ownConnector } from '#cli/signals/own-connector.ts'
import { openRedis, ownRedisUrl, passwordsIn, publishRedisUrl } from '#cli/signals/redis-url.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { startTestRedis, type TestRedis } from '../support/servers/redis.ts'

const isRoot = process.getuid?.() === 0

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
  await expect(openRedis({ redisUrl: null }, folder)).rejects.toThrow('another program has the port')
  const chosen = await openRedis({ redisUrl: other.url }, folder)
  expect(await chosen.ping()).toBe('PONG')
  chosen.disconnect()
})

test('a program of another user that has the port gets no password', async () => {
  const received: string[] = []
  const program = createServer(socket => socket.on('data', data => received.push(String(data))))
  program.listen(0, '127.0.0.1')
  await once(program, 'listening')
  const { port } = program.address() as AddressInfo // it listens on TCP
  const own = await mkdtemp(join(tmpdir(), 'highwater-other-'))
  if (isRoot) await chown(own, 65_534, 65_534)
  const errors: Error[] = []
  const connectTo = (owned: string) =>
    connectRedis(`redis://:secret@127.0.0.1:${port}`, error => errors.push(error), {
      Connector: ownConnector(owned),
      retryStrategy: () => null,
    })
  await expect(connectTo(isRoot ? own : '/').connect()).rejects.toThrow()
  expect([errors, received]).toEqual([[new ForeignPortError(port)], []])
  const mine = connectTo(folder)
  mine.connect().catch(() => {})
  await expect.poll(() => received.join('')).toContain('secret') // what the owner runs may know it
  mine.disconnect()
  program.close()
  await rm(own, { recursive: true })
})

// Only root can give a folder away.
test.runIf(isRoot)(
  'our own Redis is not connected to if a program of another user has its port',
  async () => {
    const there = join(folder, 'redis')
    await chown(there, 65_534, 65_534)
    await publishRedisUrl(folder, other.url)
    await expect(openRedis({ redisUrl: null }, folder)).rejects.toThrow('another program has the port')
    await chown(there, 0, 0)
  },
)

test.each(['', 'x', 'redis://127.0.0.1', '127.0.0.1:6379'])('a file with %j has no address', async text => {
  await writeFile(join(folder, 'redis-url'), text)
  expect(await ownRedisUrl(folder)).toBeNull()
})

test('the passwords of an address are the written and the decoded one, whatever is escaped', () => {
  expect(passwordsIn('redis://:p%40ss%2Fword@127.0.0.1')).toEqual(['p%40ss%2Fword', 'p@ss/word'])
  expect(passwordsIn('redis://:a%zz@127.0.0.1')).toEqual(['a%zz', 'a%zz'])
})
