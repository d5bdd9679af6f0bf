// `highwater run` and `serve signals` as an operator meets them: real processes, a real Redis, Ctrl-C, and crashes.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { run } from '../cli/made-up.ts'
import { addressIn } from '../support/history/history-process.ts'
import { processesOf } from '../support/processes.ts'
import { until } from '../support/signals/delivery.ts'
import {
  entryOf,
  environmentOf,
  publishedDataFolder,
  redisOf,
  type ServedHere,
  type SignalsProcess,
  serveHere,
  startSignalsProcess,
} from '../support/signals/signals-process.ts'

const KEY = /X-API-Key: (hw_\w+)/
const HISTORY = /^history service on (http:\/\/\S+)\n/m
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

/** The service, in a process of its own or in this one. */
type Serving = Pick<ServedHere, 'signalsUrl' | 'operatorUrl'>

const ask = (running: Serving, key: string, path: string): Promise<Response> =>
  fetch(running.signalsUrl + path, { headers: { 'X-API-Key': key } })

/** Runs `highwater ops ...` against it, which has nothing to complain of. */
async function ops(running: Serving, folder: string, ...args: readonly string[]): Promise<string> {
  const env = { ...environmentOf(folder), OPERATOR_URL: running.operatorUrl }
  const { code, out, err } = await run(['ops', ...args], { env })
  expect([code, err]).toEqual([0, ''])
  return out
}

/** Fires an entry of a strategy, as an operator does. */
async function fire(running: Serving, folder: string, signalId: string, alias: string): Promise<void> {
  const file = join(folder, `${signalId}.json`)
  await writeFile(file, JSON.stringify(entryOf(signalId, alias)))
  await ops(running, folder, 'fire', file)
}

test('`highwater run` shows a client, its key and a receiver that prints what arrives, and a restart after Ctrl-C in a terminal keeps all of it', async () => {
  const folder = await publishedDataFolder()
  const first = await startSignalsProcess(folder)
  const key = await keyOf(first)
  const identity = whoami.parse(await (await ask(first, key, '/v1/whoami')).json())
  expect(identity).toMatchObject({ client_id: 'demo', status: 'active' })
  const alias = z.string().parse(identity.entitlements.aliases[0])
  await first.prints(/^demo receiver: skipped #1, a test$/m)
  expect(await ops(first, folder, 'test', 'demo')).toMatch(
    /^test 2: the receiver acknowledged it with 2\d\d, \d+ ms after it was fired$/m,
  )
  await first.prints(/^demo receiver: skipped #2, a test$/m)
  await fire(first, folder, 'first', alias)
  await first.prints(new RegExp(`^demo receiver: TRADE #3 ${alias} long at 50000, stop 49000`, 'm'))
  await first.prints(ALL_SAID)
  process.kill(-first.pid, 'SIGINT') // a terminal sends it to all of its processes at once
  expect(await first.ended).toMatchObject({ code: 0, signal: null })
  expect(first.printed()).not.toMatch(/error|Error/)
  expect(processesOf(folder)).toEqual([])

  const second = await serveHere(folder, ['run'])
  expect(KEY.exec(second.printed())?.[1]).toBe(key)
  await fire(second, folder, 'second', alias)
  await expect.poll(second.printed).toMatch(/^demo receiver: TRADE #5 /m)
  expect(second.printed()).not.toContain('TRADE #3')
  const { data } = z
    .object({ data: z.array(z.object({ signal_id: z.string(), is_test: z.boolean() })) })
    .parse(await (await ask(second, key, '/v1/signals/history')).json())
  const fired = data.filter(({ is_test }) => !is_test).map(({ signal_id }) => signal_id)
  expect(fired).toEqual(['first', 'second'])
  expect(await second.stop()).toBe(0)
})

test('`highwater run` survives its Redis: keyed routes answer 503, the history is served, and a killed Redis is started again', async () => {
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
  const { entitlements } = whoami.parse(await (await ask(running, key, '/v1/whoami')).json())
  await fire(running, folder, 'after', z.string().parse(entitlements.aliases[0]))
  await running.prints(/^demo receiver: TRADE #2 /m)

  running.kill('SIGKILL') // neither Redis nor receiver is left behind
  await running.ended
  await until(async () => processesOf(folder).length === 0)
})
