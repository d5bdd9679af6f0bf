// `highwater run` and `serve signals` as an operator meets them: real processes, a real Redis, Ctrl-C, and crashes.
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { type Exit, highwater, type Running, startHighwater } from '../support/history/highwater-process.ts'
import { addressIn } from '../support/history/history-process.ts'
import { until } from '../support/signals/delivery.ts'
import { copyStores } from '../support/stores/stores.ts'

const KEY = /X-API-Key: (hw_\w+)/
const HISTORY = /^history service on (http:\/\/\S+)$/m
const ALL_SAID = /Ctrl-C stops everything/

const whoami = z.object({
  client_id: z.string(),
  status: z.string(),
  entitlements: z.object({ aliases: z.array(z.string()) }),
})

/** Asks as the demo client, whose key stands on the screen. */
async function keyOf(running: SignalsProcess): Promise<string> {
  const [, key] = await running.prints(KEY)
  return z.string().parse(key)
}

const ask = (running: SignalsProcess, key: string, path: string): Promise<Response> =>
  fetch(running.signalsUrl + path, { headers: { 'X-API-Key': key } })

/** Fires an entry of a strategy, as an operator does. */
async function fire(running: SignalsProcess, folder: string, signalId: string, alias: string): Promise<void> {
  const file = join(folder, `${signalId}.json`)
  const signal = {
    signal_id: signalId,
    alias,
    action: 'long',
    signal_price: 50_000,
    stop: 49_000,
    base_risk_pct: 0.02,
    timestamp: `${new Date().toISOString().slice(0, 19)}Z`,
  }
  await writeFile(file, JSON.stringify(signal))
  expect(await running.ops('fire', file)).toMatchObject({ code: 0, stderr: '' })
}

/** On a quick machine it has ended already. */
function killOrGone(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

const ENDED = { code: 0, signal: null }

describe('`highwater run`', () => {
  test('shows a client, its key and a receiver that prints what arrives; a restart keeps all of it', async () => {
    const folder = await publishedDataFolder()
    const first = await startSignalsProcess(folder)
    const key = await keyOf(first)
    const identity = whoami.parse(await (await ask(first, key, '/v1/whoami')).json())
    expect(identity).toMatchObject({ client_id: 'demo', status: 'active' })
    const alias = z.string().parse(identity.entitlements.aliases[0])
    await first.prints(/^demo receiver: skipped #1, a test$/m)
    expect(await first.ops('test', 'demo')).toMatchObject({ code: 0, stderr: '' })
    await first.prints(/^demo receiver: skipped #2, a test$/m)
    await fire(first, folder, 'first', alias)
    await first.prints(new RegExp(`^demo receiver: TRADE #3 ${alias} long at 50000, stop 49000`, 'm'))
    first.kill('SIGINT')
    expect(await first.ended).toMatchObject(ENDED)
    expect(await processesOf(folder)).toEqual([])

    const second = await startSignalsProcess(folder)
    expect(await keyOf(second)).toBe(key)
    await fire(second, folder, 'second', alias)
    await second.prints(/^demo receiver: TRADE #5 /m)
    expect(second.printed()).not.toContain('TRADE #3')
    const { data } = z
      .object({ data: z.array(z.object({ signal_id: z.string(), is_test: z.boolean() })) })
      .parse(await (await ask(second, key, '/v1/signals/history')).json())
    expect(data.filter(({ is_test }) => !is_test).map(({ signal_id }) => signal_id)).toEqual([
      'first',
      'second',
    ])
    second.kill('SIGTERM')
    expect(await second.ended).toMatchObject(ENDED)
  })

  test('ends cleanly if a terminal sends Ctrl-C to all of its processes at once', async () => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder)
    await running.prints(ALL_SAID)
    process.kill(-running.pid, 'SIGINT')
    expect(await running.ended).toMatchObject(ENDED)
    expect(running.printed()).not.toMatch(/error|Error/)
    expect(await processesOf(folder)).toEqual([])
  })

  test('leaves neither Redis nor receiver behind when it is killed', async () => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder)
    await running.prints(ALL_SAID)
    running.kill('SIGKILL')
    await running.ended
    await until(async () => (await processesOf(folder)).length === 0)
  })

  test.each([
    ['before it', -1_000],
    ['while it waits for balancers', 100],
    ['while it ends', 550],
  ])('that is asked to end does so by itself if Redis dies %s', async (_, laterMs) => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder)
    await running.prints(ALL_SAID)
    const { pid } = await redisOf(folder)
    const killing = sleep(Math.max(0, laterMs)).then(() => killOrGone(pid))
    await sleep(Math.max(0, -laterMs))
    running.kill('SIGINT')
    expect(await running.ended).toMatchObject(ENDED)
    await killing
    expect(await processesOf(folder)).toEqual([])
  })

  test('survives its Redis: keyed routes answer 503, the history is served, and a killed Redis is started again', async () => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder)
    const key = await keyOf(running)
    const history = addressIn(await running.prints(HISTORY))
    await running.prints(/skipped #1, a test/)
    const { pid, port } = await redisOf(folder)
    process.kill(pid, 'SIGSTOP')
    await until(async () => (await ask(running, key, '/v1/signals/history')).status === 503)
    const refused = await ask(running, key, '/v1/signals/head')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await fetch(`${running.signalsUrl}/readyz`)).status).toBe(503)
    expect((await fetch(`${running.signalsUrl}/healthz`)).status).toBe(200)
    for (const path of ['/readyz', '/v1/strategies']) expect((await fetch(history + path)).status).toBe(200)

    process.kill(pid, 'SIGKILL')
    await running.prints(/our Redis ended unexpectedly: restarting it \(1 of 3\)/)
    await until(async () => (await fetch(`${running.signalsUrl}/readyz`)).status === 200)
    expect((await redisOf(folder)).port).toBe(port)
    expect((await ask(running, key, '/v1/whoami')).status).toBe(200)
    const { entitlements } = whoami.parse(await (await ask(running, key, '/v1/whoami')).json())
    await fire(running, folder, 'after', z.string().parse(entitlements.aliases[0]))
    await running.prints(/^demo receiver: TRADE #2 /m)
    running.kill('SIGINT')
    expect(await running.ended).toMatchObject(ENDED)
    expect(await processesOf(folder)).toEqual([])
  })
})

test.each(['run', 'serve signals'])(
  '`highwater %s` ends with a sentence and exit code 1 if its Redis cannot start any more, and leaves no process',
  async command => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder, command.split(' '))
    if (command === 'run') await running.prints(ALL_SAID)
    await damageRedis(folder)
    process.kill((await redisOf(folder)).pid, 'SIGKILL')
    expect(await running.ended).toMatchObject({ code: 1, signal: null })
    expect(running.printed()).toMatch(/our Redis ended repeatedly, .*redis\.log reports/)
    expect(await processesOf(folder)).toEqual([])
  },
)

/** Nothing can be loaded from it at the next start. */
async function damageRedis(folder: string): Promise<void> {
  const files = join(folder, 'redis/appendonlydir')
  const manifests = (await readdir(files)).filter(name => name.endsWith('.manifest'))
  expect(manifests).toHaveLength(1)
  for (const name of manifests) await writeFile(join(files, name), 'no manifest\n')
}

describe('`highwater serve`', () => {
  test('signals runs a Redis of its own, shows no key, and logs requests without one', async () => {
    const folder = await publishedDataFolder()
    const running = await startSignalsProcess(folder, ['serve', 'signals'])
    expect((await fetch(`${running.signalsUrl}/readyz`)).status).toBe(200)
    expect(await running.ops('clients', 'add', 'acme')).toMatchObject({ code: 0 })
    await running.prints(/"route":"\/ops\/clients"/)
    expect(running.printed()).not.toMatch(/hw_|history service|demo/)
    running.kill('SIGTERM')
    expect(await running.ended).toMatchObject(ENDED)
    expect(await processesOf(folder)).toEqual([])
  })

  test('all serves the history too, and signals on the Redis of REDIS_URL', async () => {
    const folder = await publishedDataFolder()
    const other = await publishedDataFolder()
    const first = await startSignalsProcess(folder, ['serve', 'signals'])
    const { port } = await redisOf(folder)
    const all = await startSignalsProcess(other, ['serve', 'all'], { REDIS_URL: `redis://127.0.0.1:${port}` })
    const history = addressIn(await all.prints(HISTORY))
    expect((await fetch(`${history}/v1/strategies`)).status).toBe(200)
    expect((await fetch(`${all.signalsUrl}/readyz`)).status).toBe(200)
    expect((await processesOf(other)).filter(({ command }) => command.includes('redis'))).toEqual([])
    for (const running of [all, first]) {
      running.kill('SIGINT')
      expect(await running.ended).toMatchObject(ENDED)
    }
  })

  test.each(['run', 'serve all', 'serve signals'])(
    '%s that cannot listen on a port says so, ends, and leaves no process',
    async command => {
      const folder = await publishedDataFolder()
      const taken = createServer().listen(0, '127.0.0.1')
      await new Promise(resolve => taken.once('listening', resolve))
      const address = taken.address()
      const port = String(typeof address === 'object' ? address?.port : '')
      const env = { DATA_FOLDER: folder, HISTORY_PORT: '0', SIGNALS_PORT: '0', OPERATOR_PORT: port }
      const exit = await highwater(command.split(' '), { env })
      taken.close()
      expect(exit).toMatchObject({ code: 1, signal: null })
      expect(exit.stderr).toContain(`cannot listen on 127.0.0.1:${port}: another process has the port`)
      expect(await processesOf(folder)).toEqual([])
    },
  )
})

/** A data folder in which the tiny book is published. */
async function publishedDataFolder(): Promise<string> {
  return dirname(fileURLToPath((await copyStores(inject('tinyStore'))).url))
}

const environmentOf = (folder: string): Record<string, string> => ({
  DATA_FOLDER: folder,
  HISTORY_PORT: '0',
  SIGNALS_PORT: '0',
  OPERATOR_PORT: '0',
})

type SignalsProcess = Running & {
  readonly signalsUrl: string
  /** Runs `highwater ops ...` against it. */
  readonly ops: (...args: readonly string[]) => Promise<Exit>
}

const SIGNALS_ADDRESS = /^signals service on (http:\/\/\S+)$/m
const OPERATOR_ADDRESS = /^operator interface on (http:\/\/\S+)\/ops$/m

/** Starts `highwater run`, or another command that serves signals, on free ports, and waits until it listens. */
async function startSignalsProcess(
  folder: string,
  args: readonly string[] = ['run'],
  more: Readonly<Record<string, string>> = {},
): Promise<SignalsProcess> {
  const env = { ...environmentOf(folder), ...more }
  const running = startHighwater(args, { env })
  const [, signalsUrl] = await running.prints(SIGNALS_ADDRESS)
  const [, operatorUrl] = await running.prints(OPERATOR_ADDRESS)
  const ops = (...asked: readonly string[]): Promise<Exit> =>
    highwater(['ops', ...asked], { env: { ...env, OPERATOR_URL: z.url().parse(operatorUrl) } })
  return { ...running, signalsUrl: z.url().parse(signalsUrl), ops }
}

type LeftProcess = { readonly pid: number; readonly command: string }

/** Processes that work in a folder: it is below their own, or stands in their command line or in their environment. */
async function processesOf(folder: string): Promise<readonly LeftProcess[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map(pid => lookAt(pid, folder)))
  return found.flatMap(one => (one === null ? [] : [one]))
}

async function lookAt(pid: number, folder: string): Promise<LeftProcess | null> {
  const orEnded = (text: Promise<string>): Promise<string> => text.catch(() => '') // ended meanwhile, or is not ours
  const [command, environ, cwd] = await Promise.all([
    orEnded(readFile(`/proc/${pid}/cmdline`, 'utf8')),
    orEnded(readFile(`/proc/${pid}/environ`, 'utf8')),
    orEnded(readlink(`/proc/${pid}/cwd`)), // a Redis writes over the other two
  ])
  if (![command, environ, cwd].some(text => text.includes(folder))) return null
  return { pid, command: command.replaceAll('\0', ' ').trim() }
}

type LocalRedis = { readonly pid: number; readonly port: string }

/** The Redis that works in a folder. */
async function redisOf(folder: string): Promise<LocalRedis> {
  for (const { pid, command } of await processesOf(folder)) {
    const port = /^\S*redis-server [\d.]+:(\d+)/.exec(command)?.[1]
    if (port !== undefined) return { pid, port }
  }
  throw new Error(`no Redis works in ${folder}`)
}
