// The signals service as a process, with whatever it started beside itself.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { z } from 'zod'
import { type Exit, highwater, type Running, startHighwater } from '../history/highwater-process.ts'
import { copyStores } from '../stores/stores.ts'

/** A data folder in which the tiny book is published. */
export async function publishedDataFolder(): Promise<string> {
  return dirname(fileURLToPath((await copyStores(inject('tinyStore'))).url))
}

const environmentOf = (folder: string): Record<string, string> => ({
  DATA_FOLDER: folder,
  HISTORY_PORT: '0',
  SIGNALS_PORT: '0',
  OPERATOR_PORT: '0',
})

export type SignalsProcess = Running & {
  readonly signalsUrl: string
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
  const ops = (...asked: readonly string[]): Promise<Exit> =>
    highwater(['ops', ...asked], { env: { ...env, OPERATOR_URL: z.url().parse(operatorUrl) } })
  return { ...running, signalsUrl: z.url().parse(signalsUrl), ops }
}

export type LeftProcess = { readonly pid: number; readonly command: string }

/** Processes that work in a folder: it is below their own, or stands in their command line or in their environment. */
export async function processesOf(folder: string): Promise<readonly LeftProcess[]> {
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

export type LocalRedis = { readonly pid: number; readonly port: string }

/** The Redis that works in a folder. */
export async function redisOf(folder: string): Promise<LocalRedis> {
  for (const { pid, command } of await processesOf(folder)) {
    const port = /^\S*redis-server [\d.]+:(\d+)/.exec(command)?.[1]
    if (port !== undefined) return { pid, port }
  }
  throw new Error(`no Redis works in ${folder}`)
}
