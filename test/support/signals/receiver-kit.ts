// The receivers of examples/ as their users run them: a copy of the folder, a process of its own, a real service to pull from.
import { spawnSync } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { type Fetch, startServer } from '#api/service/http-server.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import type { SignalsParts } from '#api/signals/exchange.ts'
import { freePort } from '#cli/services/free-port.ts'
import { readSignal } from '#signals/log/read-log.ts'
import { EPOCH } from '#signals/redis/keys.ts'
import { createWebhookSecret, signedHeaders } from '#signals/send/sign.ts'
import { startProcess } from '../history/highwater-process.ts'
import type { Running } from '../processes.ts'
import { whenFree } from '../servers/when-free.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addClient, seededBytes } from './signals.ts'
import { signalsParts } from './signals-app.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** One of the examples. */
export type Kit = {
  readonly name: 'typescript' | 'python'
  readonly program: string
  readonly file: string
  /** The line of trade() that a user replaces. */
  readonly tradeLine: RegExp
  /** Code in its place that fails for the first signal it gets. */
  readonly failingOnce: string
}

export const KITS: readonly Kit[] = [
  {
    name: 'typescript',
    program: process.execPath,
    file: 'receiver.ts',
    tradeLine: /^ {2}console\.log\(/m,
    failingOnce:
      "  if (!env.FAILED) {\n    env.FAILED = 'yes'\n    throw new Error('the venue is closed')\n  }\n",
  },
  {
    name: 'python',
    program: 'python3',
    file: 'receiver.py',
    tradeLine: /^ {4}say\("TRADE /m,
    failingOnce:
      '    if not hasattr(trade, "failed"):\n        trade.failed = True\n        raise RuntimeError("the venue is closed")\n',
  },
]

/** Why an example cannot run on this machine, or null. */
export const whyNot = ({ program }: Kit): string | null =>
  spawnSync(program, ['--version']).status === 0 ? null : `there is no ${program} on this machine`

export const SECRET = createWebhookSecret(seededBytes('receiver'))
export const OTHER_SECRET = createWebhookSecret(seededBytes('rotated'))

/** A service with a client, at a port that it keeps to its end. */
export async function startPullService(redis: Redis, changes: Partial<SignalsParts> = {}) {
  let answer: Fetch = away
  await redis.set(EPOCH, 'first-epoch')
  const open = async () => {
    const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('kit'))
    answer = createSignalsApp(signalsParts(redis, changes).parts).fetch
    return token
  }
  const start = async () =>
    startServer(() => (request, env) => answer(request, env), '127.0.0.1', await freePort())
  const { url, close } = await whenFree(start)
  return {
    url,
    close,
    token: await open(),
    /** Answers 503 while Redis is changed, and goes on as another process with the same client. */
    async restart(change: () => Promise<void>): Promise<void> {
      answer = away
      await change()
      await open()
    },
  }
}

const away: Fetch = () => new Response(null, { status: 503 })

export type PullService = Awaited<ReturnType<typeof startPullService>>

/** A copy of an example in a folder of its own, as a subscriber makes one; `change` edits its code. */
export async function copyKit(kit: Kit, change: (code: string) => string = code => code): Promise<string> {
  const folder = await temporaryFolder()
  await cp(join(ROOT, 'examples/receivers', kit.name), folder, { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules')) // in place of `npm install`
  const path = join(folder, kit.file)
  await writeFile(path, change(await readFile(path, 'utf8')))
  return folder
}

export type Receiver = Running & {
  readonly url: string
  /** The numbers that trade() got, in its order. */
  readonly traded: () => number[]
}

/** Starts the receiver of a folder; its first start is over when it knows where the log stands. */
export async function startReceiver(
  kit: Kit,
  folder: string,
  service: Pick<PullService, 'url' | 'token'>,
  env: Readonly<Record<string, string>> = {},
): Promise<Receiver> {
  const running = startProcess(kit.program, [join(folder, kit.file)], {
    cwd: folder,
    env: {
      HIGHWATER_URL: service.url,
      HIGHWATER_KEY: service.token,
      WEBHOOK_SECRET: SECRET,
      PORT: '0',
      PULL_SECONDS: '3600', // a test that needs the pull asks for it
      ...env,
    },
  })
  const [, url = ''] = await running.prints(/listening on (http:\S+)/)
  return {
    ...running,
    url,
    traded: () => [...running.printed().matchAll(/TRADE #(\d+)/g)].map(match => Number(match[1])),
  }
}

export type Push = {
  readonly prev?: number
  readonly secrets?: readonly string[]
  /** The time in the headers, epoch milliseconds. */
  readonly sentAtMs?: number
  readonly body?: Uint8Array<ArrayBuffer>
  /** What becomes of the headers after signing. */
  readonly headers?: (signed: Record<string, string>) => Record<string, string>
  /** What becomes of the body after signing. */
  readonly tamper?: (body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>
}

/** Sends a signal of the log as the service does, and gives the status of the answer. */
export async function push(redis: Redis, url: string, seq: number, order: Push = {}): Promise<number> {
  const { prev = seq - 1, secrets = [SECRET], sentAtMs = Date.now(), tamper = same, headers = same } = order
  const logged = await readSignal(redis, seq)
  const body = order.body ?? new TextEncoder().encode(logged?.body)
  const delivery = { body, id: `s${seq}`, seq, prevSeq: prev, attempt: 1, sentAtMs }
  const signed = signedHeaders(delivery, secrets)
  const response = await fetch(url, { method: 'POST', headers: headers(signed), body: tamper(body) })
  await response.arrayBuffer()
  return response.status
}

const same = <Value>(value: Value): Value => value

/** Waits until the last of these is traded, and expects that these were, in this order, and nothing else. */
export async function expectTraded(receiver: Receiver, seqs: readonly number[]): Promise<void> {
  await receiver.prints(new RegExp(`TRADE #${seqs.at(-1)} `))
  expect(receiver.traded()).toEqual(seqs)
}

/**
 * Waits until everything that was begun is finished, on the disk too: a pull, a push, a trade. The work is one queue, and a
 * test that is pushed behind it is answered when its turn has come.
 */
export async function settled(redis: Redis, receiver: Receiver): Promise<void> {
  const seq = FIRST_MARK + [...receiver.printed().matchAll(/skipped #9\d{5},/g)].length
  const body = new TextEncoder().encode(JSON.stringify({ signal_id: `mark-${seq}`, seq, is_test: true }))
  expect(await push(redis, receiver.url, seq, { body })).toBe(200)
  await receiver.prints(new RegExp(`skipped #${seq}, a test`))
}

/** Numbers that no log of a test reaches. */
const FIRST_MARK = 900_000
