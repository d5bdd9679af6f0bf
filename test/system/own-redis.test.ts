// The service's own Redis: one for each data folder, also if another is started and whatever is killed.
import { once } from 'node:events'
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readAfter } from '#signals/log/read-log.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import { processesOf } from '../support/processes.ts'
import { until } from '../support/signals/delivery.ts'
import { cursorOf, expectAll, type LiveBook, liveBook } from '../support/signals/live-kills.ts'
import {
  entryOf,
  environmentOf,
  publishedDataFolder,
  redisOf,
  type SignalsProcess,
  startSignalsProcess,
} from '../support/signals/signals-process.ts'

const SERVE = ['serve', 'signals']
const IN_USE = 'another process runs the Redis in it; end that one, or set DATA_FOLDER to another folder'

describe('two services on one data folder', () => {
  test('under fire: one serves, the other is refused, and no acknowledged signal is lost or shares its number', async () => {
    const folder = await publishedDataFolder()
    let serving = await startSignalsProcess(folder, SERVE)
    const firing = startFiring(folder, () => serving.operatorUrl)
    await firing.more()
    const address = await urlIn(folder)
    const second = await highwater(SERVE, { env: environmentOf(folder) })
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(IN_USE) })
    expect(await urlIn(folder)).toBe(address)
    await firing.more()
    for (const kill of [killAlone, killWithScript, killAlone, killWithScript]) {
      await kill(serving, folder)
      serving = await oneOfTwo(folder)
      await firing.more()
    }
    await firing.stop()
    await expectLogged(folder, firing.acknowledged)
    serving.kill('SIGTERM')
    await serving.ended
    const last = await startSignalsProcess(folder, SERVE)
    await expectLogged(folder, firing.acknowledged)
    last.kill('SIGTERM')
    await last.ended
    expect(await processesOf(folder)).toEqual([])
  })

  test('share no Redis with a backup either: it uses the one that runs, or starts it for as long as it lasts', async () => {
    const folder = await publishedDataFolder()
    const file = join(folder, 'signals.jsonl')
    const serving = await startSignalsProcess(folder, SERVE)
    const firing = startFiring(folder, () => serving.operatorUrl)
    await firing.more()
    const backups = Promise.all([1, 2].map(i => serving.ops('backup', `${file}.${i}`)))
    await firing.more()
    for (const { code } of await backups) expect(code).toBe(0)
    await firing.stop()
    await expectLogged(folder, firing.acknowledged)
    await killWithScript(serving, folder)
    expect(await serving.ops('backup', file)).toMatchObject({ code: 0 }) // the orphan answers
    process.kill((await redisOf(folder)).pid, 'SIGKILL')
    expect(await serving.ops('backup', file)).toMatchObject({ code: 0 })
    expect(await processesOf(folder)).toEqual([])
    const lines = (await readFile(file, 'utf8')).split('\n')
    expect(lines.filter(line => line.includes('"type":"signal"'))).toHaveLength(firing.acknowledged.size)
  })
})

describe('the Redis of a data folder', () => {
  test('is readable by its owner only, and answers nobody without its password', async () => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder)
    await running.prints(/Ctrl-C stops everything/)
    const redis = join(folder, 'redis')
    expect(await modeOf(redis)).toBe(0o700)
    const files = await readdir(redis, { recursive: true, withFileTypes: true })
    for (const entry of files) {
      const wanted = entry.isDirectory() ? 0o700 : 0o600
      expect([entry.name, await modeOf(join(entry.parentPath, entry.name))]).toEqual([entry.name, wanted])
    }
    expect(await modeOf(join(folder, 'redis-url'))).toBe(0o600)
    const { password, port } = new URL(await urlIn(folder))
    expect(password).toMatch(/^[0-9a-f]{64}$/)
    expect(await replyTo('KEYS *\r\n', Number(port))).toMatch(/^-NOAUTH/)
    running.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 0 })
    expect(running.printed()).not.toContain(password)
  })

  test('has the same port and password after a restart, and another port if a program took it', async () => {
    const folder = await publishedDataFolder()
    const first = await startSignalsProcess(folder, SERVE)
    const address = await urlIn(folder)
    first.kill('SIGTERM')
    await first.ended
    const second = await startSignalsProcess(folder, SERVE)
    expect(await urlIn(folder)).toBe(address)
    second.kill('SIGTERM')
    await second.ended
    const taken = await listen(Number(new URL(address).port))
    const third = await startSignalsProcess(folder, SERVE)
    const moved = new URL(await urlIn(folder))
    expect(moved.port).not.toBe(new URL(address).port)
    expect(moved.password).toBe(new URL(address).password)
    third.kill('SIGTERM')
    await third.ended
    taken.close()
  })

  test('has another port if a connection of a program took it', async () => {
    const folder = await publishedDataFolder()
    const first = await startSignalsProcess(folder, SERVE)
    const address = new URL(await urlIn(folder))
    first.kill('SIGTERM')
    await first.ended
    const server = await listen(0)
    const connection = connect(portOf(server), '127.0.0.1')
    await once(connection, 'connect')
    const port = String(connection.localPort)
    await writeFile(join(folder, 'redis-url'), `redis://:${address.password}@127.0.0.1:${port}`)
    const second = await startSignalsProcess(folder, SERVE)
    const moved = new URL(await urlIn(folder))
    expect([moved.port === port, moved.password]).toEqual([false, address.password])
    second.kill('SIGTERM')
    await second.ended
    connection.destroy()
    server.close()
  })

  test('that has no lock, as of an earlier release, gets no other beside it', async () => {
    const { folder, orphan, acknowledged } = await leaveOrphan()
    await rm(join(folder, 'redis/redis.lock'))
    const fix = `end it with 'kill ${orphan.pid}'`
    const refused = await highwater(SERVE, { env: environmentOf(folder) })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(fix) })
    expect(await redisOf(folder)).toEqual(orphan)
    process.kill(orphan.pid, 'SIGTERM')
    const again = await startSignalsProcess(folder, SERVE)
    await expectLogged(folder, acknowledged)
    again.kill('SIGTERM')
    await again.ended
  })

  test('that outlived its service is ended, and started again with its data', async () => {
    const { folder, orphan, acknowledged } = await leaveOrphan()
    const again = await startSignalsProcess(folder, SERVE)
    expect((await redisOf(folder)).pid).not.toBe(orphan.pid)
    expect((await redisOf(folder)).port).toBe(orphan.port)
    await expectLogged(folder, acknowledged)
    again.kill('SIGTERM')
    await again.ended
  })
})

describe('a live runner', () => {
  test('follows the Redis of its data folder to another port, and decides every bar once', async () => {
    const folder = await publishedDataFolder()
    const own = await liveBook(97, 12)
    const [early, late] = [own.lines.slice(0, 6), own.lines.slice(6)]
    const first = await startSignalsProcess(folder, SERVE)
    const address = await urlIn(folder)
    const args = ['live', '--allow-unpublished', '--book', own.book, '--feed', `file:${own.feed}`]
    const runner = startHighwater(args, { env: environmentOf(folder) })
    await appendFile(own.feed, `${early.join('\n')}\n`)
    await untilCursor(folder, own, own.endMs - late.length * FOUR_HOURS_MS)
    await killWithScript(first, folder)
    process.kill((await redisOf(folder)).pid, 'SIGKILL')
    const taken = await listenOnceFree(Number(new URL(address).port))
    const second = await startSignalsProcess(folder, SERVE)
    expect(new URL(await urlIn(folder)).port).not.toBe(new URL(address).port)
    await appendFile(own.feed, `${late.join('\n')}\n`)
    await untilCursor(folder, own, own.endMs)
    taken.close()
    runner.kill('SIGTERM')
    expect(await runner.ended).toMatchObject({ code: 0 })
    const redis = await connectTo(folder)
    await expectAll({ url: '', redis }, own)
    redis.disconnect()
    second.kill('SIGTERM')
    await second.ended
    await rm(own.folder, { recursive: true, force: true })
  })
})

const FOUR_HOURS_MS = 14_400_000

/** Waits until the live runner of a data folder has decided the bars up to an instant. */
async function untilCursor(folder: string, own: LiveBook, closeMs: number): Promise<void> {
  const redis = await connectTo(folder)
  await until(async () => (await cursorOf({ url: '', redis }, own)) === closeMs)
  redis.disconnect()
}

async function connectTo(folder: string): Promise<Redis> {
  const redis = connectRedis(await urlIn(folder), () => {})
  await redis.connect()
  return redis
}

const urlIn = async (folder: string): Promise<string> =>
  (await readFile(join(folder, 'redis-url'), 'utf8')).trim()

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

/** What a server replies to a stranger. */
const replyTo = (text: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.once('error', reject)
    socket.once('data', reply => {
      socket.destroy()
      resolve(String(reply))
    })
  })

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })

/** The port of a killed process is free once the system has removed it. */
async function listenOnceFree(port: number): Promise<Server> {
  for (;;) {
    const server = await listen(port).catch(() => null)
    if (server !== null) return server
    await sleep(20)
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port // it listens on TCP

/** Kills a service: its script ends Redis, while the next service starts. */
async function killAlone(serving: SignalsProcess): Promise<void> {
  serving.kill('SIGKILL')
  await serving.ended
}

/** Kills a service and the script of its Redis, which becomes an orphan. */
async function killWithScript(serving: SignalsProcess, folder: string): Promise<void> {
  serving.kill('SIGSTOP') // or it starts the script again in between
  const script = (await processesOf(folder)).filter(({ command }) => command.includes('redis-server.sh'))
  for (const { pid } of script) process.kill(pid, 'SIGKILL')
  serving.kill('SIGKILL')
  await serving.ended
}

/** A Redis that outlived its service and its script, its folder, and the signals that it acknowledged. */
async function leaveOrphan() {
  const folder = await publishedDataFolder()
  const serving = await startSignalsProcess(folder, SERVE)
  const firing = startFiring(folder, () => serving.operatorUrl)
  await firing.more()
  await firing.stop()
  const orphan = await redisOf(folder)
  await killWithScript(serving, folder)
  return { folder, orphan, acknowledged: firing.acknowledged }
}

/** Starts two services at the same time: one serves, and the other is refused. */
async function oneOfTwo(folder: string): Promise<SignalsProcess> {
  const both = await Promise.allSettled([1, 2].map(() => startSignalsProcess(folder, SERVE)))
  const [serving, ...more] = both.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  expect(more).toEqual([])
  expect(both.find(one => one.status === 'rejected')?.reason).toMatchObject({
    message: expect.stringContaining(IN_USE),
  })
  return serving!
}

const answer = z.object({ data: z.object({ seq: z.int().min(1) }) })

/** Fires one entry after another, each until it is acknowledged. */
function startFiring(folder: string, operatorUrl: () => string) {
  const acknowledged = new Map<string, number>()
  let isStopped = false
  const fireOn = async (worker: number): Promise<void> => {
    const token = (await readFile(join(folder, 'operator-token'), 'utf8')).trim()
    for (let i = 0; !isStopped; i++) {
      const signal = entryOf(`w${worker}-${i}`, 'ash')
      for (let seq: number | null = null; seq === null && !isStopped; ) {
        seq = await post(operatorUrl(), token, signal)
        if (seq === null) await sleep(20)
        else acknowledged.set(signal.signal_id, seq)
      }
    }
  }
  const firing = Promise.all([1, 2].map(fireOn))
  return {
    acknowledged,
    /** Resolves when some more are acknowledged. */
    async more(): Promise<void> {
      const wanted = acknowledged.size + 25
      await Promise.race([until(async () => acknowledged.size >= wanted), firing])
    },
    async stop(): Promise<void> {
      isStopped = true
      await firing
    },
  }
}

/** The number that was acknowledged, or null if the outcome is unknown. */
async function post(url: string, token: string, signal: ReturnType<typeof entryOf>): Promise<number | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/ops/signals`, {
      method: 'POST',
      headers,
      body: JSON.stringify(signal),
    })
    const text = await response.text()
    if (response.status === 503) return null
    if (!response.ok) throw new Error(`a fire was answered ${response.status}: ${text}`)
    return answer.parse(JSON.parse(text)).data.seq
  } catch (error) {
    if (error instanceof TypeError) return null // the service is away
    throw error
  }
}

/** Every acknowledged signal is in the log under its number, which no other has. */
async function expectLogged(folder: string, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const redis = await connectTo(folder)
  const log = await readAfter(redis, 0, 1_000_000)
  redis.disconnect()
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1))
  const written = new Map(log.map(({ seq, body }) => [JSON.parse(body).signal_id as string, seq]))
  expect([...acknowledged].filter(([id, seq]) => written.get(id) !== seq)).toEqual([])
  expect(new Set(acknowledged.values()).size).toBe(acknowledged.size)
}
