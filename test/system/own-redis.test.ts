// The service's own Redis: one for each data folder, also if another is started and whatever is killed.
import { appendFile, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { readAfter } from '#signals/log/read-log.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { run } from '../cli/made-up.ts'
import { atEnd } from '../support/ends.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import { processesOf } from '../support/processes.ts'
import { until } from '../support/signals/delivery.ts'
import { cursorOf, expectAll, type LiveBook, liveBook } from '../support/signals/live-kills.ts'
import {
  entryOf,
  environmentOf,
  fireOnce,
  publishedDataFolder,
  redisOf,
  SERVE,
  type SignalsProcess,
  serveHere,
  startSignalsProcess,
  urlIn,
} from '../support/signals/signals-process.ts'

const IN_USE = 'another process runs the Redis in it; end that one, or set DATA_FOLDER to another folder'

test('one of several services on one data folder serves and the others are refused, and no acknowledged signal is lost or shares its number, whatever is killed', async () => {
  const folder = await publishedDataFolder()
  let serving = await startSignalsProcess(folder, SERVE)
  const firing = startFiring(folder, () => serving.operatorUrl)
  await firing.more()
  for (const [kill, startAgain] of [
    [killAlone, startSignalsProcess],
    [killWithScript, oneOfTwo],
  ] as const) {
    const { pid } = await redisOf(folder)
    await kill(serving, folder)
    serving = await startAgain(folder, SERVE)
    expect((await redisOf(folder)).pid).not.toBe(pid) // an orphan is ended
    await firing.more()
  }
  await firing.stop()
  await expectLogged(folder, firing.acknowledged)
  serving.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ code: 0 })
  expect(processesOf(folder)).toEqual([])
})

test('a backup uses the Redis of the data folder that runs, or starts it for as long as it lasts; one without a lock, as of an earlier release, gets no other beside it', async () => {
  const folder = await publishedDataFolder()
  const file = join(folder, 'signals.jsonl')
  const backup = (path: string) => run(['ops', 'backup', path], { env: environmentOf(folder) })
  const serving = await startSignalsProcess(folder, SERVE)
  const firing = startFiring(folder, () => serving.operatorUrl)
  await firing.more()
  const backups = Promise.all([1, 2].map(i => backup(`${file}.${i}`)))
  await firing.more()
  for (const one of await backups) expect(one).toMatchObject({ code: 0 })
  await firing.stop()
  await expectLogged(folder, firing.acknowledged)
  await killWithScript(serving, folder)
  expect(await backup(file)).toMatchObject({ code: 0 }) // the orphan answers

  const orphan = await redisOf(folder)
  await rm(join(folder, 'redis/redis.lock'))
  const fix = `end it with 'kill ${orphan.pid}'`
  const refused = await highwater(SERVE, { env: environmentOf(folder) })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(fix) })
  expect(await redisOf(folder)).toEqual(orphan)
  process.kill(orphan.pid, 'SIGTERM')
  await until(async () => processesOf(folder).length === 0)
  expect(await backup(file)).toMatchObject({ code: 0 })
  expect(processesOf(folder)).toEqual([])
  const lines = (await readFile(file, 'utf8')).split('\n')
  expect(lines.filter(line => line.includes('"type":"signal"'))).toHaveLength(firing.acknowledged.size)
})

test('a live runner follows the Redis of its data folder to another port, and decides every bar once', async () => {
  const folder = await publishedDataFolder()
  const own = await liveBook(97, 12)
  const [early, late] = [own.lines.slice(0, 6), own.lines.slice(6)]
  const first = await startSignalsProcess(folder, SERVE)
  const address = new URL(await urlIn(folder))
  const args = ['live', '--allow-unpublished', '--book', own.book, '--feed', `file:${own.feed}`]
  const runner = startHighwater(args, { env: environmentOf(folder) })
  await appendFile(own.feed, `${early.join('\n')}\n`)
  await untilCursor(folder, own, own.endMs - late.length * FOUR_HOURS_MS)
  await killWithScript(first, folder)
  process.kill((await redisOf(folder)).pid, 'SIGKILL')
  const taken = await listenOnceFree(Number(address.port))
  atEnd(() => taken.close())
  const second = await serveHere(folder)
  const moved = new URL(await urlIn(folder))
  expect([moved.port === address.port, moved.password]).toEqual([false, address.password])
  await appendFile(own.feed, `${late.join('\n')}\n`)
  await untilCursor(folder, own, own.endMs)
  runner.kill('SIGTERM')
  expect(await runner.ended).toMatchObject({ code: 0 })
  const redis = await connectTo(folder)
  await expectAll({ url: '', redis }, own)
  redis.disconnect()
  expect(await second.stop()).toBe(0)
})

const FOUR_HOURS_MS = 14_400_000

/** Waits until the live runner of a data folder has decided the bars up to an instant. */
async function untilCursor(folder: string, own: LiveBook, closeMs: number): Promise<void> {
  const redis = await connectTo(folder)
  await until(async () => (await cursorOf({ url: '', redis }, own)) === closeMs)
  redis.disconnect()
}

async function connectTo(folder: string): Promise<Redis> {
  const redis = connectRedis(await urlIn(folder), () => {}, { commandTimeout: 60_000 })
  atEnd(() => redis.disconnect())
  await redis.connect()
  return redis
}

/** The port of a killed process is free once the system has removed it. */
async function listenOnceFree(port: number): Promise<Server> {
  for (;;) {
    const server = createServer()
    const isListening = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isListening) return server
    await sleep(20)
  }
}

/** Kills a service: its script ends Redis, while the next service starts. */
async function killAlone(serving: SignalsProcess): Promise<void> {
  serving.kill('SIGKILL')
  await serving.ended
}

/** Kills a service and the script of its Redis, which becomes an orphan. */
async function killWithScript(serving: SignalsProcess, folder: string): Promise<void> {
  serving.kill('SIGSTOP') // or it starts the script again in between
  const script = processesOf(folder).filter(({ command }) => command.includes('redis-server.sh'))
  for (const { pid } of script) process.kill(pid, 'SIGKILL')
  serving.kill('SIGKILL')
  await serving.ended
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

/** So that the services that start meanwhile have the machine as well. */
const BETWEEN_FIRES_MS = 15

/** Fires one entry after another, each until it is acknowledged. */
function startFiring(folder: string, operatorUrl: () => string) {
  const acknowledged = new Map<string, number>()
  let isStopped = false
  const fireOn = async (worker: number): Promise<void> => {
    const token = (await readFile(join(folder, 'operator-token'), 'utf8')).trim()
    for (let i = 0; !isStopped; i++) {
      const signal = entryOf(`w${worker}-${i}`, 'ash')
      for (let seq: number | null = null; seq === null && !isStopped; ) {
        seq = await fireOnce(operatorUrl(), token, signal)
        if (seq === null) await sleep(20)
        else acknowledged.set(signal.signal_id, seq)
      }
      await sleep(BETWEEN_FIRES_MS)
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

/** Every acknowledged signal is in the log under its number, which no other has. */
async function expectLogged(folder: string, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const redis = await connectTo(folder)
  const log = await readAfter(redis, 0, 1_000_000)
  redis.disconnect()
  expect(new Set(log.map(({ seq }) => seq)).size).toBe(log.length) // with a gap after each unclean end
  const written = new Map(log.map(({ seq, body }) => [JSON.parse(body).signal_id as string, seq]))
  expect([...acknowledged].filter(([id, seq]) => written.get(id) !== seq)).toEqual([])
  expect(new Set(acknowledged.values()).size).toBe(acknowledged.size)
}
