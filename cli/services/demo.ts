// The demonstration: a client with a key, and a receiver on this machine that prints what arrives.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import { authenticate, issueKey, listKeys, revokeKey } from '#signals/clients/api-keys.ts'
import { createClient, getClient } from '#signals/clients/clients.ts'
import { type RegisterParts, registerWebhook } from '#signals/outbox/register-webhook.ts'
import { removeWebhook } from '#signals/outbox/webhooks.ts'
import { createWebhookSecret } from '#signals/send/sign.ts'
import { ifThere } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import { keepSecret, PRIVATE_MODE } from '../settings/generated-secrets.ts'
import { type LocalServer, startLocalServer } from './local-server.ts'

const CLIENT = 'demo'

/** The receiver ends with this process, however it ends: its standard input is ours. */
const END_WITH_US = 'process.stdin.on("close", () => process.kill(process.pid, "SIGTERM")).resume().unref()'

type DemoOrder = Pick<Runtime, 'now' | 'drawBytes'> & {
  readonly redis: Redis
  readonly registering: RegisterParts
  readonly programAlias: string
  readonly aliases: readonly string[]
  readonly dataFolder: string
  readonly signalsUrl: string
  /** Whether its receiver may be on this machine; without one the client pulls. */
  readonly hasReceiver: boolean
  readonly print: (line: string) => void
}

export type Demo = Awaited<ReturnType<typeof startDemo>>

/** Creates the client if needed, starts the receiver if any, and registers it as the client's webhook. */
export async function startDemo(order: DemoOrder) {
  const folder = join(order.dataFolder, 'demo')
  await mkdir(folder, { recursive: true })
  await ensureClient(order)
  const token = await ensureToken(order, join(folder, 'key'))
  if (!order.hasReceiver) {
    await removeWebhook(order.redis, CLIENT) // nothing listens there any more
    return { client: CLIENT, token, hasReceiver: false, stop: async () => {} }
  }
  const secret = await keepSecret(folder, 'webhook-secret', order.drawBytes, () =>
    createWebhookSecret(order.drawBytes),
  )
  const receiver = await startReceiver(order, folder, token, secret)
  const registered = registerWebhook(order.registering, CLIENT, { url: receiver.url, secret })
  await registered.catch(async (error: unknown) => {
    await receiver.stop()
    throw error
  })
  return { client: CLIENT, token, hasReceiver: true, stop: receiver.stop }
}

/** Entitled to every strategy served at its creation; later changes by the operator stay. */
async function ensureClient({ redis, aliases, programAlias, now }: DemoOrder): Promise<void> {
  if ((await getClient(redis, CLIENT)) !== null) return
  const beginning = { aliases, program: true, status: 'active' } as const
  await createClient(redis, CLIENT, 'demo', now(), beginning, programAlias)
}

/** The key of the last start if still live; else a new one, which replaces the oldest of two. */
async function ensureToken({ redis, now, drawBytes }: DemoOrder, file: string): Promise<string> {
  const known = (await ifThere(readFile(file, 'utf8'), null))?.trim() ?? null
  if (known !== null && (await authenticate(redis, known, now())) !== null) return known
  const [oldest, ...others] = await listKeys(redis, CLIENT)
  if (oldest !== undefined && others.length > 0) await revokeKey(redis, oldest.id)
  const { token } = await issueKey(redis, CLIENT, drawBytes, now())
  await writeFile(file, `${token}\n`, { mode: PRIVATE_MODE })
  return token
}

const RECEIVER = fileURLToPath(new URL('../../examples/receivers/typescript/receiver.ts', import.meta.url))

/** The example receiver for subscribers, as a process without our environment. */
const startReceiver = (
  { signalsUrl, print }: DemoOrder,
  folder: string,
  token: string,
  secret: string,
): Promise<LocalServer> =>
  startLocalServer(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(END_WITH_US)}`, RECEIVER],
    {
      name: 'the demo receiver',
      env: {
        HIGHWATER_URL: signalsUrl,
        HIGHWATER_KEY: token,
        WEBHOOK_SECRET: secret,
        PORT: '0',
        STATE_FILE: join(folder, 'receiver.state'),
      },
      ready: /^listening on (http:\/\/\S+)$/,
      print,
    },
  )
