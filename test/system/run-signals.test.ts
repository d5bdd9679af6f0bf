// `highwater run` and `serve signals` as an operator meets them: real processes, a real Redis, Ctrl-C, and crashes.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { highwater } from '../support/history/highwater-process.ts'
import { addressIn } from '../support/history/history-process.ts'
import { processesOf } from '../support/processes.ts'
import { until } from '../support/signals/delivery.ts'
import {
  fire,
  publishedDataFolder,
  redisOf,
  type SignalsProcess,
  startSignalsProcess,
} from '../support/signals/signals-process.ts'

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
    expect(await first.ops('test', 'demo')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^test 2: the receiver acknowledged it with 2\d\d, \d+ ms after it was fired$/m,
      ),
      stderr: '',
    })
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
    const url = (await readFile(join(folder, 'redis-url'), 'utf8')).trim()
    const all = await startSignalsProcess(other, ['serve', 'all'], { REDIS_URL: url })
    const history = addressIn(await all.prints(HISTORY))
    expect((await fetch(`${history}/v1/strategies`)).status).toBe(200)
    expect((await fetch(`${all.signalsUrl}/readyz`)).status).toBe(200)
    expect((await processesOf(other)).filter(({ command }) => command.includes('redis-server'))).toEqual([])
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
