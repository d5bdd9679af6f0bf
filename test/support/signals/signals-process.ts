// `highwater serve signals` and `highwater run` as processes on a data folder of their own, and the processes that work in one.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'
import { z } from 'zod'
import { runCommand } from '#cli/program.ts'
import { createStream, madeUp } from '../../cli/made-up.ts'
import { atEndOfProcess } from '../ends.ts'
import { startHighwater } from '../history/highwater-process.ts'
import type { Running } from '../processes.ts'
import { processesOf } from '../processes.ts'
import { copyStores } from '../stores/stores.ts'
import { seededBytes } from './signals.ts'

/** A data folder in which the tiny book is published. */
export async function publishedDataFolder(): Promise<string> {
  return dirname(fileURLToPath((await copyStores(inject('tinyStore'))).url))
}

export const environmentOf = (folder: string): Record<string, string> => ({
  DATA_FOLDER: folder,
  HISTORY_PORT: '0',
  SIGNALS_PORT: '0',
  OPERATOR_PORT: '0',
})

export type SignalsProcess = Running & {
  readonly signalsUrl: string
  readonly operatorUrl: string
}

const SIGNALS_ADDRESS = /^signals service on (http:\/\/\S+)\n/m
const OPERATOR_ADDRESS = /^operator interface on (http:\/\/\S+)\/ops\n/m

/** Starts `highwater run`, or another command that serves signals, on free ports, and waits until it listens. */
export async function startSignalsProcess(
  folder: string,
  args: readonly string[] = ['run'],
): Promise<SignalsProcess> {
  const running = startHighwater(args, { env: environmentOf(folder) })
  const [, signalsUrl] = await running.prints(SIGNALS_ADDRESS)
  const [, operatorUrl] = await running.prints(OPERATOR_ADDRESS)
  return { ...running, signalsUrl: z.url().parse(signalsUrl), operatorUrl: z.url().parse(operatorUrl) }
}

export const SERVE = ['serve', 'signals']

export type ServedHere = Awaited<ReturnType<typeof serveHere>>

/** The same in this process, and what it says and logs. It ends when it is stopped, or with the running test. */
export async function serveHere(
  folder: string,
  args: readonly string[] = SERVE,
  more: Readonly<Record<string, string>> = {},
) {
  const stopped = Promise.withResolvers<void>()
  const log = createStream()
  const { runtime, out, err } = madeUp({
    env: { ...environmentOf(folder), ...more },
    now: Date.now,
    elapsed: () => performance.now(),
    drawBytes: seededBytes(folder),
    logStream: { write: line => void log.write(line) },
    untilStopped: () => stopped.promise,
  })
  const printed = (): string => out() + err() + log.text()
  const ended = runCommand(args, runtime)
  const stop = (): Promise<number> => {
    stopped.resolve()
    return ended
  }
  atEndOfProcess(stop)
  const address = (pattern: RegExp): Promise<string> =>
    Promise.race([
      expect.poll(() => pattern.exec(printed())?.[1]).toBeDefined(),
      ended.then(code => expect.fail(`it ended with ${code}: ${printed()}`)),
    ]).then(() => z.url().parse(pattern.exec(printed())?.[1]))
  const [signalsUrl, operatorUrl] = [await address(SIGNALS_ADDRESS), await address(OPERATOR_ADDRESS)]
  return { signalsUrl, operatorUrl, printed, ended, stop }
}

/** The address that the Redis of a data folder has, or had last. */
export const urlIn = async (folder: string): Promise<string> =>
  (await readFile(join(folder, 'redis-url'), 'utf8')).trim()

type LocalRedis = { readonly pid: number; readonly port: string }

/** The Redis that works in a folder. */
export async function redisOf(folder: string): Promise<LocalRedis> {
  for (const { pid, command } of processesOf(folder)) {
    const port = /^\S*redis-server [\d.]+:(\d+)/.exec(command)?.[1]
    if (port !== undefined) return { pid, port }
  }
  throw new Error(`no Redis works in ${folder}`)
}

const fired = z.object({ data: z.object({ seq: z.int().min(1), signal_id: z.string() }) })

type Entry = ReturnType<typeof entryOf>

/** Fires an entry: the number that was acknowledged, or null if the outcome is unknown. Throws on every other answer. */
export async function fireOnce(url: string, token: string, entry: Entry): Promise<number | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const order = { method: 'POST', headers, body: JSON.stringify(entry) }
  const response = await fetch(`${url}/ops/signals`, order).catch(() => null)
  const text = await response?.text().catch(() => null)
  if (response === null || text == null || response.status === 503) return null // it is away, or its Redis
  if (!response.ok) throw new Error(`the fire ${entry.signal_id} was answered ${response.status}: ${text}`)
  const { data } = fired.parse(JSON.parse(text))
  expect(data.signal_id).toBe(entry.signal_id)
  return data.seq
}

/** An entry of a strategy, as it is fired now unless a test says otherwise. */
export const entryOf = (signalId: string, alias = 'alder', more: Readonly<Record<string, unknown>> = {}) => ({
  signal_id: signalId,
  alias,
  action: 'long',
  signal_price: 50_000,
  stop: 49_000,
  base_risk_pct: 0.02,
  timestamp: `${new Date().toISOString().slice(0, 19)}Z`,
  ...more,
})
