// `highwater serve signals` and `highwater run` as processes on a data folder of their own, and the processes that work in one.
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'
import { z } from 'zod'
import { highwater, startHighwater } from '../history/highwater-process.ts'
import type { Exit, Running } from '../processes.ts'
import { processesOf } from '../processes.ts'
import { copyStores } from '../stores/stores.ts'

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
  /** Runs `highwater ops ...` against it. */
  readonly ops: (...args: readonly string[]) => Promise<Exit>
}

const SIGNALS_ADDRESS = /^signals service on (http:\/\/\S+)$/m
const OPERATOR_ADDRESS = /^operator interface on (http:\/\/\S+)\/ops$/m

/** Starts `highwater run`, or another command that serves signals, on free ports, and waits until it listens. */
export async function startSignalsProcess(
  folder: string,
  args: readonly string[] = ['run'],
  more: Readonly<Record<string, string>> = {},
): Promise<SignalsProcess> {
  const env = { ...environmentOf(folder), ...more }
  const running = startHighwater(args, { env })
  const [, signalsUrl] = await running.prints(SIGNALS_ADDRESS)
  const [, operatorUrl] = await running.prints(OPERATOR_ADDRESS)
  const url = z.url().parse(operatorUrl)
  const ops = (...asked: readonly string[]): Promise<Exit> =>
    highwater(['ops', ...asked], { env: { ...env, OPERATOR_URL: url } })
  return { ...running, signalsUrl: z.url().parse(signalsUrl), operatorUrl: url, ops }
}

type LocalRedis = { readonly pid: number; readonly port: string }

/** The Redis that works in a folder. */
export async function redisOf(folder: string): Promise<LocalRedis> {
  for (const { pid, command } of await processesOf(folder)) {
    const port = /^\S*redis-server [\d.]+:(\d+)/.exec(command)?.[1]
    if (port !== undefined) return { pid, port }
  }
  throw new Error(`no Redis works in ${folder}`)
}

/** An entry of a strategy. */
export const entryOf = (signalId: string, alias: string) => ({
  signal_id: signalId,
  alias,
  action: 'long',
  signal_price: 50_000,
  stop: 49_000,
  base_risk_pct: 0.02,
  timestamp: `${new Date().toISOString().slice(0, 19)}Z`,
})

/** Fires an entry of a strategy, as an operator does. */
export async function fire(
  running: SignalsProcess,
  folder: string,
  signalId: string,
  alias: string,
): Promise<void> {
  const file = join(folder, `${signalId}.json`)
  await writeFile(file, JSON.stringify(entryOf(signalId, alias)))
  expect(await running.ops('fire', file)).toMatchObject({ code: 0, stderr: '' })
}
