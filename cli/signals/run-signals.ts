// The signals service with whatever it needs on this machine: generated secrets, a Redis of its own, a demonstration.
import { mkdir } from 'node:fs/promises'
import type { Environment } from '../environment.ts'
import { readSecrets } from '../generated-secrets.ts'
import { createLog } from '../log.ts'
import type { SignalsEnvironment } from '../signals-variables.ts'
import { createStarted, type Started } from '../started.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Demo, startDemo } from './demo.ts'
import { startOwnRedis } from './own-redis.ts'
import { forgetRedisUrl, tellRedisUrl } from './redis-url.ts'
import { type SignalsService, serveSignals } from './serve-signals.ts'

export type RunningSignals = {
  readonly url: string
  readonly operatorUrl: string
  readonly redisUrl: string
  /** Null where none was asked for. */
  readonly demo: Demo | null
  readonly stop: () => Promise<void>
}

export type RunOrder = {
  readonly environment: Environment
  readonly surroundings: Surroundings
  readonly dataFolder: string
  /** Whether to show a client, its key and a receiver: on a machine that nobody else reaches. */
  readonly hasDemo: boolean
  /** Prints a line for people. */
  readonly print: (line: string) => void
}

/** Starts all of it, in the order in which the one needs the other. Where a part cannot start, none is left running. */
export async function runSignals(order: RunOrder): Promise<RunningSignals> {
  const started = createStarted()
  try {
    return await start(order, started)
  } catch (error) {
    await started.endAll().catch(() => {}) // the first error is the one that tells
    throw error
  }
}

async function start(order: RunOrder, started: Started): Promise<RunningSignals> {
  const { surroundings, dataFolder } = order
  const environment = forDemo(order)
  await mkdir(dataFolder, { recursive: true })
  const secrets = await readSecrets(environment, dataFolder, surroundings.drawBytes)
  const redisUrl = environment.redisUrl ?? (await startRedis(order, started))
  const known = [secrets.operatorToken, ...secrets.secretKey.split(/[,:]/)].filter(isLong)
  const log = createLog(levelOf(order), surroundings.logStream, surroundings.now, known)
  const service = await serveSignals({ environment, redisUrl, secrets, surroundings, log })
  let demo: Demo | null = null
  started.add(() => demo?.stop())
  started.add(service.stop) // ends first: deliveries that are under way still find the receiver
  if (order.hasDemo) demo = await demonstrate(order, service)
  const { url, operatorUrl } = service
  return { url, operatorUrl, redisUrl, demo, stop: started.endAll }
}

/** Our own Redis, and a word to other commands where it is. */
async function startRedis({ surroundings, dataFolder }: RunOrder, started: Started): Promise<string> {
  const redis = await startOwnRedis(surroundings.root, dataFolder)
  started.add(redis.stop)
  await tellRedisUrl(dataFolder, redis.url)
  started.add(() => forgetRedisUrl(dataFolder))
  return redis.url
}

function demonstrate({ surroundings, dataFolder, print }: RunOrder, service: SignalsService): Promise<Demo> {
  const { root, now, drawBytes } = surroundings
  const { url: signalsUrl, redis, registering, programAlias } = service
  return startDemo({
    ...{ redis, registering, programAlias, root, dataFolder, signalsUrl, now, drawBytes },
    print: line => print(`demo receiver: ${line}`),
  })
}

/** The demonstration lies on this machine. */
function forDemo({ environment, hasDemo }: RunOrder): Environment {
  if (!hasDemo) return environment
  return { ...environment, signals: { ...environment.signals, allowsPrivateWebhooks: true } }
}

/** Beside a demonstration the log is for people, who look for trouble alone. */
const levelOf = ({ environment, surroundings, hasDemo }: RunOrder): SignalsEnvironment['logLevel'] =>
  hasDemo && !surroundings.env.LOG_LEVEL ? 'warn' : environment.signals.logLevel

/** The ids of keys stand beside them, and are no secrets. */
const isLong = (text: string): boolean => text.length > 32
