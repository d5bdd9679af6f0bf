// What the parts of the signals service share: Redis, stores, the served version, secrets, metrics, alerts.
import type { CurrentVersion } from '#core/contract/manifest.ts'
import { type Alert, createAlerts } from '#signals/alerts.ts'
import { openLog } from '#signals/log/open-log.ts'
import { createMetrics } from '#signals/metrics.ts'
import { createActionCopy } from '#signals/operators/audit-log.ts'
import { clientOf, endpointOf } from '#signals/outbox/destination.ts'
import type { RegisterParts, WebhookChange } from '#signals/outbox/register-webhook.ts'
import { LOST_KEY, sealFault } from '#signals/outbox/rekey.ts'
import { createSecretBox, parseKeyRing } from '#signals/outbox/secret-box.ts'
import { createPreviewLimits, LIMITS_TIMEOUT_MS } from '#signals/program/preview-limits.ts'
import { assertDisk, assertDurable, usedOfDisk } from '#signals/redis/boot-checks.ts'
import { createSteadyClock } from '#signals/redis/clock.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { createHostResolver } from '#signals/send/resolve-host.ts'
import { createSender, createSendSignal } from '#signals/send/send.ts'
import { readOverview } from '#signals/views/overview.ts'
import { messageOf } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest, readProgram, readSnapshotFacts, type ServedProgram } from '#storage/published-files.ts'
import { openStores } from '../options/store-option.ts'
import { reachRedis } from '../outside/redis-url.ts'
import { createAlertChannel } from '../outside/send-alert.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'
import type { Secrets } from '../settings/generated-secrets.ts'
import type { Log } from './log.ts'
import { type Started, startTimer } from './started.ts'

export type SignalsOrder = {
  readonly environment: Environment
  readonly redisUrl: string
  /** Its data folder; null if unknown, as on another machine. */
  readonly redisFolder: string | null
  readonly secrets: Secrets
  readonly runtime: Runtime
  readonly log: Log
}

export type OpenSignals = Awaited<ReturnType<typeof openSignals>>

/** Opens everything. Rejects if Redis cannot be reached, could lose a signal, or has lost its log. */
export async function openSignals(order: SignalsOrder, started: Started) {
  const parts = await openParts(order, started)
  return { ...parts, ...createWatch(parts), registering: createRegistering(parts, started) }
}

type Parts = Awaited<ReturnType<typeof openParts>>

async function openParts(order: SignalsOrder, started: Started) {
  const { environment, runtime, log } = order
  const { now, elapsed, drawBytes } = runtime
  const onError = logOnce(log, now)
  if (order.redisFolder !== null) await assertDisk(order.redisFolder)
  const redis = connectRedis(order.redisUrl, onError)
  started.add(() => redis.disconnect())
  await reachRedis(redis)
  const { ALLOW_UNSAFE_REDIS: allowsUnsafeRedis } = environment
  if (!allowsUnsafeRedis) await assertDurable(redis)
  const { store, privateStore } = await openStores(environment)
  const newToken = (): string => Buffer.from(drawBytes(16)).toString('hex')
  const box = createSecretBox(parseKeyRing(order.secrets.secretKey), drawBytes)
  const fault = await sealFault(redis, box)
  if (fault !== null) throw new UsageError(`SECRET_KEY does not fit what Redis holds: ${fault}; ${LOST_KEY}`)
  const givenLog = await openLog(redis, { privateStore, newEpoch: newToken, now, allowsUnsafeRedis })
  started.add(() => givenLog.close().catch(onError)) // otherwise the next start continues above the mark
  const channel = createAlertChannel(environment, runtime.env, message => log.warn(message))
  const alerts = createAlerts(channel, now)
  const served = followVersion(store, privateStore, { onError, raise: alerts.raise })
  await served.look()
  started.every(LOOK_MS, served.look)
  const clock = { now, elapsed, startTimer }
  const steady = createSteadyClock(clock)
  const onWebhook = (change: WebhookChange): void => {
    const { destination, by, change: what } = change
    const whose = by.kind === 'link' ? { linkOf: by.id } : {}
    const keyId = by.kind === 'key' ? by.id : null
    const of = { client: clientOf(destination), endpoint: endpointOf(destination) }
    log.info('webhook', { ...of, change: what, keyId, ...whose })
    alerts.onWebhook(change)
  }
  return {
    ...{ order, redis, store, privateStore, givenLog, served, alerts, box, clock, steady },
    ...{ newToken, onWebhook, onError },
    reach: {
      rules: { allowLoopback: environment.ALLOW_PRIVATE_WEBHOOKS },
      resolveHost: createHostResolver(),
    },
  }
}

function createWatch({ order, redis, privateStore, served, clock }: Parts) {
  const { redisFolder, log } = order
  const overview = (): ReturnType<typeof readOverview> =>
    readOverview({ redis, aliases: () => new Set(served.aliases()), clock })
  const diskUsed = async (): Promise<number | null> => (redisFolder === null ? null : usedOfDisk(redisFolder))
  const metrics = createMetrics(overview, diskUsed)
  const onAnswered = (answered: Parameters<typeof metrics.onAnswered>[0]): void => {
    metrics.onAnswered(answered)
    log.info('request', { ...answered })
  }
  return { overview, diskUsed, metrics, onAnswered, copyAudit: createActionCopy(redis, privateStore) }
}

type LimitsOrder = Pick<OpenSignals, 'clock' | 'onError'> & {
  readonly order: Pick<SignalsOrder, 'redisUrl'>
}

/** Limits of the preview, on a separate connection, so that a hanging Redis does not delay previews. */
export function openLimits({ order, clock, onError }: LimitsOrder, started: Started) {
  const report = (error: unknown): void => {
    if (!started.isEnding()) onError(error) // a service that cannot start closes what is still connecting
  }
  const redis = connectRedis(order.redisUrl, report, { commandTimeout: LIMITS_TIMEOUT_MS })
  started.add(() => redis.disconnect())
  redis.connect().catch(report) // it reconnects by itself
  return createPreviewLimits(redis, clock.elapsed, report)
}

/** For registrations: a separate sender, because they wait for the answer. */
function createRegistering(
  { redis, box, clock, steady, newToken, onWebhook, order, reach }: Parts,
  started: Started,
): RegisterParts {
  const sender = createSender({ ...reach, ...clock })
  started.add(sender.close)
  const { drawBytes } = order.runtime
  const send = createSendSignal(sender, steady.now)
  return { redis, box, newToken, drawBytes, send, now: clock.now, rules: reach.rules, onChange: onWebhook }
}

/** A repeated error is logged again after this time, with a count. */
const REPEAT_MS = 30_000

const MOST_REMEMBERED = 100

/** Logs errors; repeated ones, as from an unreachable Redis, do not fill the disk. */
function logOnce(log: Log, now: () => number): (error: unknown) => void {
  const logged = new Map<string, { atMs: number; again: number }>()
  return error => {
    const text = messageOf(error)
    const last = logged.get(text)
    if (last !== undefined && now() - last.atMs < REPEAT_MS) {
      last.again++
      return
    }
    if (logged.size >= MOST_REMEMBERED) logged.clear()
    logged.set(text, { atMs: now(), again: 0 })
    log.error('something went wrong', error, { repeated: last?.again ?? 0 })
  }
}

const LOOK_MS = 5_000

/** Follows the served version by `look`. If a program cannot be read, the one before stays, and the next look reads it again. */
export function followVersion(
  store: ObjectStore,
  privateStore: ObjectStore,
  { onError, raise }: { readonly onError: (error: unknown) => void; readonly raise: (alert: Alert) => void },
) {
  let served: Awaited<ReturnType<typeof readServed>> | null = null
  let baseRisks: ReadonlyMap<string, number> = new Map()
  let program: ServedProgram | null = null
  let programOf = ''
  let looking: Promise<void> | null = null
  const lookOnce = async (): Promise<void> => {
    const head = await readHead(store)
    if (head === null) return
    const { manifest_sha256: sha256 } = head.entry
    if (sha256 !== served?.sha256) served = await readServed(store, head.entry)
    if (sha256 === programOf) return
    const { dataset, strategies } = await readSnapshotFacts(privateStore, served)
    baseRisks = new Map(strategies.map(({ id, base_risk_pct }) => [id, base_risk_pct]))
    const stored = await readProgram(privateStore, served)
    program = stored && { ...stored, dataset }
    programOf = sha256
  }
  const report = (error: unknown): void => {
    onError(error)
    raise(unreadable(error, program))
  }
  return {
    /** The strategies, in catalogue order; empty until something is published. */
    aliases: (): readonly string[] => served?.strategies ?? [],
    /** The base risk of a strategy in the catalogue; undefined if there is none, or it could not be read yet. */
    baseRiskOf: (alias: string): number | undefined => baseRisks.get(alias),
    /** The program; null if the version has none, or none could be read yet. */
    program: () => program,
    /** Checks which version is served. Never rejects. */
    look(): Promise<void> {
      // One check at a time: a slow one could replace a newer version with an older one.
      looking ??= lookOnce()
        .catch(report)
        .finally(() => {
          looking = null
        })
      return looking
    },
  }
}

function unreadable(error: unknown, program: ServedProgram | null): Alert {
  const instead = program === null ? 'no program is served' : `that of ${program.version} is served on`
  const message = `the program of the served version cannot be read, ${instead}: ${messageOf(error)}`
  return { kind: 'program_unreadable', subject: 'program', message }
}

/** A manifest names every file of a version and is large: only these fields of it are kept. */
async function readServed(store: ObjectStore, current: CurrentVersion) {
  const { version, strategies, program_sha256, snapshot } = await readManifest(store, current)
  return { sha256: current.manifest_sha256, version, strategies, program_sha256, snapshot }
}
