// The signals service with what it needs on this machine: generated secrets, its own Redis, a demonstration.
import { mkdir } from 'node:fs/promises'
import { programAliasOf } from '#api/signals/program/prepared-program.ts'
import type { Runtime } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'
import { readSecrets } from '../settings/generated-secrets.ts'
import { type Demo, startDemo } from './demo.ts'
import { createLog } from './log.ts'
import { startOwnRedis } from './own-redis.ts'
import { ownRedisFolder, ownRedisOptions, passwordsIn } from './redis-url.ts'
import { type SignalsService, serveSignals } from './serve-signals.ts'
import { type Started, startAll } from './started.ts'

export type RunningSignals = Awaited<ReturnType<typeof runSignals>>

export type RunOrder = {
  readonly environment: Environment
  readonly runtime: Runtime
  /** Whether to run a client, its key and a receiver, on a machine that nobody else reaches. */
  readonly hasDemo: boolean
}

/** Starts all parts, or none. `failed` rejects if the service cannot continue. */
export const runSignals = (order: RunOrder) => startAll(started => start(order, started))

async function start(order: RunOrder, started: Started) {
  const { runtime } = order
  const environment = forDemo(order)
  const { dataFolder } = environment
  if (environment.signals.allowsPrivateWebhooks) runtime.terminal.note(ON_THIS_MACHINE)
  else if (order.hasDemo) runtime.terminal.note(NO_RECEIVER)
  await mkdir(dataFolder, { recursive: true })
  const secrets = await readSecrets(environment, dataFolder, runtime.drawBytes)
  const { failed, ...redis } = await chooseRedis(order, started)
  const { redisUrl } = redis
  const known = [secrets.operatorToken, ...secrets.secretKey.split(/[,:]/), ...passwordsIn(redisUrl)].filter(
    isLong,
  )
  const log = createLog(levelOf(order), runtime.logStream, runtime.now, known)
  const service = await serveSignals({ environment, ...redis, secrets, runtime, log })
  let demo: Demo | null = null
  started.add(() => demo?.stop())
  started.add(service.stop) // stopped first: deliveries under way still reach the receiver
  if (order.hasDemo) demo = await demonstrate(order, service)
  const { url, operatorUrl, program } = service
  const hasProgram = program() !== null
  return {
    url,
    operatorUrl,
    redisAddress: new URL(redisUrl).host,
    hasProgram,
    demo,
    failed,
    stop: started.endAll,
  }
}

/** The Redis of REDIS_URL, or our own, which is started. */
async function chooseRedis(
  { runtime, environment: { dataFolder, redisUrl, redisFolder } }: RunOrder,
  started: Started,
) {
  if (redisUrl !== null) return { redisUrl, redisFolder, failed: NEVER }
  const own = await startOwnRedis(runtime, dataFolder, runtime.terminal.note)
  started.add(own.stop)
  return {
    redisUrl: own.url,
    redisOptions: ownRedisOptions(dataFolder),
    redisFolder: ownRedisFolder(dataFolder),
    failed: own.failed,
  }
}

function demonstrate(order: RunOrder, service: SignalsService): Promise<Demo> {
  const { now, drawBytes, terminal } = order.runtime
  const { dataFolder } = order.environment
  const { url: signalsUrl, redis, registering, program, aliases } = service
  const programAlias = programAliasOf(program())
  return startDemo({
    ...{ redis, registering, programAlias, dataFolder, signalsUrl, now, drawBytes, aliases: aliases() },
    hasReceiver: !isForbidden(order),
    print: line => terminal.print(`demo receiver: ${line}`),
  })
}

const ON_THIS_MACHINE =
  'WARNING: webhooks may be on this machine: ALLOW_PRIVATE_WEBHOOKS is on, for development; ' +
  'ALLOW_PRIVATE_WEBHOOKS=no turns it off'

const NO_RECEIVER =
  'ALLOW_PRIVATE_WEBHOOKS=no: the demo client has no receiver, which would be on this machine; it pulls'

/** Whether the operator disallowed private webhooks explicitly. */
const isForbidden = ({ runtime }: RunOrder): boolean => runtime.env.ALLOW_PRIVATE_WEBHOOKS === 'no'

/** The receiver of the demonstration is on this machine. */
function forDemo(order: RunOrder): Environment {
  const { environment, hasDemo } = order
  if (!hasDemo || isForbidden(order)) return environment
  return { ...environment, signals: { ...environment.signals, allowsPrivateWebhooks: true } }
}

/** Beside a demonstration only problems are logged. */
const levelOf = ({ environment, runtime, hasDemo }: RunOrder): Environment['reporting']['logLevel'] =>
  hasDemo && !runtime.env.LOG_LEVEL ? 'warn' : environment.reporting.logLevel

/** A Redis of the operator is waited for, however long. */
const NEVER = new Promise<never>(() => {})

/** Ids of keys are shorter, and no secrets. */
const isLong = (text: string): boolean => text.length > 32
