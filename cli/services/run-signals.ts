// The signals service with what it needs on this machine: generated secrets, its own Redis, a demonstration.
import { mkdir } from 'node:fs/promises'
import { programAliasOf } from '#api/signals/program/prepared-program.ts'
import { createSigner } from '#storage/signature.ts'
import { readSigner } from '../build/guard-pointer.ts'
import { ownRedisFolder, passwordsIn, withSocket } from '../outside/redis-url.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'
import { readSecrets, type Secrets } from '../settings/generated-secrets.ts'
import { type Demo, startDemo } from './demo.ts'
import { createLog } from './log.ts'
import { startOwnRedis } from './own-redis.ts'
import { serveSignals } from './serve-signals.ts'
import { type Started, startAll } from './started.ts'

export type RunningSignals = Awaited<ReturnType<typeof runSignals>>

type RunOrder = {
  readonly environment: Environment
  readonly runtime: Runtime
  /** Whether to run a client, its key and a receiver, on a machine that nobody else reaches. */
  readonly hasDemo: boolean
}

/** Starts all parts, or none. `failed` rejects if the service cannot continue. */
export const runSignals = (order: RunOrder) => startAll(started => start(order, started))

async function start({ environment: given, runtime, hasDemo }: RunOrder, started: Started) {
  const { env, terminal, now, drawBytes } = runtime
  const hasReceiver = hasDemo && env.ALLOW_PRIVATE_WEBHOOKS !== 'no' // by which the operator refuses it
  const environment = hasReceiver ? { ...given, ALLOW_PRIVATE_WEBHOOKS: true } : given
  if (environment.ALLOW_PRIVATE_WEBHOOKS) terminal.note(ON_THIS_MACHINE)
  else if (hasDemo) terminal.note(NO_RECEIVER)
  await mkdir(environment.DATA_FOLDER, { recursive: true })
  const secrets = await readSecrets(environment, drawBytes)
  await assertOwnKey(environment, secrets)
  const { failed, ...redis } = await chooseRedis(environment, runtime, started)
  const level = hasDemo && !env.LOG_LEVEL ? 'warn' : environment.LOG_LEVEL // beside a demonstration only problems
  const addresses = [redis.redisUrl, environment.SMTP_URL].filter(url => url !== null)
  const log = createLog(level, runtime.logStream, now, secretTexts(secrets, addresses))
  let demo: Demo | null = null
  started.add(() => demo?.stop()) // after the service: deliveries under way still reach the receiver
  const service = await serveSignals({ environment, ...redis, secrets, runtime, log }, started)
  const { url, operatorUrl, registering, served } = service
  if (hasDemo)
    demo = await startDemo({
      ...{ redis: service.redis, registering, hasReceiver, now, drawBytes, signalsUrl: url },
      programAlias: programAliasOf(served.program()),
      aliases: served.aliases(),
      dataFolder: environment.DATA_FOLDER,
      print: line => terminal.print(`demo receiver: ${line}`),
    })
  const redisAddress = new URL(redis.redisUrl).host
  const hasProgram = served.program() !== null
  return { url, operatorUrl, redisAddress, hasProgram, demo, failed }
}

/** A stolen key of seals must not publish versions. One that signs and cannot be read is refused where it is used. */
async function assertOwnKey(environment: Environment, { sealKey }: Secrets): Promise<void> {
  const signer = await readSigner(environment).catch(() => null)
  if (signer?.keyId === createSigner(sealKey).keyId)
    throw new UsageError(
      'SEAL_KEY_FILE and SIGNING_KEY_FILE hold the same key: make one for the seals with `highwater keys new FILE`',
    )
}

/** What the log may not have; the ids of keys are shorter, and no secrets. */
const secretTexts = ({ operatorToken, secretKey, sealSecret }: Secrets, addresses: readonly string[]) =>
  [operatorToken, sealSecret, ...secretKey.split(/[,:]/), ...addresses.flatMap(passwordsIn)].filter(
    text => text.length > 32,
  )

async function chooseRedis(
  { DATA_FOLDER, REDIS_URL: redisUrl, REDIS_FOLDER: redisFolder }: Environment,
  runtime: Runtime,
  started: Started,
) {
  // A Redis of the operator is waited for, however long.
  if (redisUrl !== null) return { redisUrl, redisFolder, failed: new Promise<never>(() => {}) }
  const own = await startOwnRedis(runtime, DATA_FOLDER, runtime.terminal.note)
  started.add(own.stop)
  const folder = ownRedisFolder(DATA_FOLDER)
  return { redisUrl: withSocket(DATA_FOLDER, own.url), redisFolder: folder, failed: own.failed }
}

const ON_THIS_MACHINE =
  'WARNING: webhooks may be on this machine: ALLOW_PRIVATE_WEBHOOKS is on, for development; ' +
  'ALLOW_PRIVATE_WEBHOOKS=no turns it off'

const NO_RECEIVER =
  'ALLOW_PRIVATE_WEBHOOKS=no: the demo client has no receiver, which would be on this machine; it pulls'
