// The signals service as one process: the interfaces of clients and operator, and delivery, on one Redis.
import { setTimeout as sleep } from 'node:timers/promises'
import { listenOperator } from '#api/operator/app.ts'
import { hostsOf } from '#api/operator/guard.ts'
import { listenSignals } from '#api/signals/app.ts'
import { programAliasOf } from '#api/signals/program/prepared-program.ts'
import { sealAnchorKey, sealKey } from '#core/contract/seals.ts'
import { digestOf } from '#signals/clients/token.ts'
import { startDelivery } from '#signals/delivery/delivery-service.ts'
import { createHighWater } from '#signals/log/high-water.ts'
import { assertClock } from '#signals/redis/clock.ts'
import { SEALS_OFF } from '#signals/redis/keys.ts'
import { noteRefusal, runSealer } from '#signals/seals/sealer.ts'
import { createMailer } from '#signals/send/mail.ts'
import { createPublishedReader } from '#signals/views/published.ts'
import { rollBack } from '#static-build/move-pointer.ts'
import { sha256 } from '#storage/digest.ts'
import { listFleetProgress } from '#storage/fleet-progress.ts'
import { IMMUTABLE_BYTES } from '#storage/object-store.ts'
import { createSigner } from '#storage/signature.ts'
import { followPointer, prove } from '../build/follow-pointer.ts'
import { movePointer } from '../build/guard-pointer.ts'
import { type OpenSignals, openLimits, openSignals, type SignalsOrder } from './open-signals.ts'
import { allowedOrigins, forAWhile, interfaceSettings, type Started, untilNoticed } from './started.ts'

const LOOK_MS = 10_000

/** Rejects if Redis cannot be reached or could lose a signal, or a port is taken. Its end lets running requests and deliveries end. */
export async function serveSignals(order: SignalsOrder, started: Started) {
  const open = await openSignals(order, started)
  const delivery = await deliver(open, started)
  if (order.environment.SEALS === 'on') seal(open, delivery.hasLease, started)
  else await noteRefusal({ ...open.clock, redis: open.redis }, SEALS_OFF)
  const signals = await listenToClients(open, started)
  const operator = await listenToOperator(open, signals.url, started)
  started.add(untilNoticed)
  lookNowAndThen(open, started)
  const { redis, registering, served } = open
  return { url: signals.url, operatorUrl: operator.url, redis, registering, served }
}

async function deliver(open: OpenSignals, started: Started) {
  const { order, box, clock, steady, newToken, alerts, metrics, reach, onError } = open
  const { redisUrl, runtime } = order
  const { SMTP_URL: smtpUrl, MAIL_FROM: from } = order.environment
  const delivery = await startDelivery({
    ...{ redisUrl, box, clock, steady, newToken, onError, ...reach },
    random: runtime.random,
    mail: smtpUrl === null || from === null ? null : createMailer(smtpUrl, from),
    onEvent: event => {
      metrics.onEvent(event)
      alerts.onEvent(event)
    },
  })
  started.add(delivery.stop)
  return delivery
}

/** Seals beside deliveries, which never wait for it. What it has begun at a stop is finished by the next start. */
function seal(
  { order, redis, store, privateStore, clock, onError }: OpenSignals,
  hasLease: () => Promise<boolean>,
  started: Started,
): void {
  const { environment, runtime, secrets } = order
  const { ANCHOR_COMMAND: command, ANCHOR_EVERY: every } = environment
  const stopped = new AbortController()
  const sealing = runSealer({
    ...{ redis, store, privateStore, hasLease, onError, now: clock.now, stop: stopped.signal },
    ...{ signer: createSigner(secrets.sealKey), secret: secrets.sealSecret },
    assertClock: () => assertClock(redis, clock.now),
    pause: ms => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {}), // the abort ends what waits
    anchor: async n => {
      const of = n - (n % every)
      const bytes = command === null || of === 0 ? null : await store.read(sealKey(of))
      if (command === null || bytes === null || (await store.has(sealAnchorKey(of)))) return
      await store.create(sealAnchorKey(of), await prove(command, sha256(bytes), runtime), IMMUTABLE_BYTES)
    },
  })
  started.add(() => {
    stopped.abort()
    return forAWhile(sealing)
  })
}

function listenToClients(open: OpenSignals, started: Started) {
  const { order, redis, privateStore, served, clock, registering, onAnswered, onError } = open
  const { environment, secrets } = order
  const limits = openLimits(open, started)
  const toParts = (url: string) => ({
    ...{ redis, privateStore, clock, registering, limits, onAnswered, onError },
    isDraining: started.isEnding,
    settings: {
      ...interfaceSettings(environment, url),
      historyBaseUrl: environment.HISTORY_BASE_URL,
      trustedProxies: environment.TRUSTED_PROXIES,
    },
    program: served.program,
    allowedOrigins: allowedOrigins(environment),
    operatorDigest: digestOf(secrets.operatorToken),
    pause: sleep,
    assertClock: () => assertClock(redis, clock.now),
  })
  const { HOST, SIGNALS_PORT } = environment
  return started.listen('SIGNALS_PORT', listenSignals(toParts, HOST, SIGNALS_PORT))
}

function listenToOperator(open: OpenSignals, signalsUrl: string, started: Started) {
  const { order, redis, store, privateStore, clock, served, alerts, newToken, registering } = open
  const { metrics, diskUsed, copyAudit, onAnswered, onError } = open
  const { environment, secrets, runtime } = order
  const { HOST, OPERATOR_PORT, OPERATOR_URL } = environment
  let copying: unknown
  started.add(() => forAWhile(copying))
  const parts = {
    ...{ redis, clock, registering, diskUsed, onAnswered, onError },
    token: secrets.operatorToken,
    // The name in OPERATOR_URL is for an interface that listens on every address.
    hosts: hostsOf(HOST, OPERATOR_URL === null ? [] : [new URL(OPERATOR_URL).hostname]),
    aliases: () => new Set(served.aliases()),
    accountUrl: `${environment.SIGNALS_BASE_URL ?? interfaceSettings(environment, signalsUrl).publicBaseUrl}/account`,
    baseRiskOf: served.baseRiskOf,
    programAlias: () => programAliasOf(served.program()),
    random: runtime.drawBytes,
    newRequestId: newToken,
    published: createPublishedReader(store, privateStore),
    rollBack: (version: string) => rollBackTo(version, open),
    alerts: alerts.recent,
    builds: () => listFleetProgress(privateStore),
    metrics: metrics.read,
    onFired: metrics.onFired,
    pause: sleep,
    onAction: () => {
      copying = copyAudit().catch(onError) // what fails is copied by the next look
    },
    onGuessing: alerts.onGuessing,
  }
  return started.listen('OPERATOR_PORT', listenOperator(parts, HOST, OPERATOR_PORT))
}

/** As `highwater rollback` does; caches are purged and time stamps taken afterwards. */
async function rollBackTo(version: string, { order, served, onError }: OpenSignals): Promise<void> {
  const { environment, runtime } = order
  await movePointer(environment, {}, runtime, (at, mover) => rollBack(at, version, mover))
  void followPointer(environment, runtime).catch(onError)
  await served.look()
}

function lookNowAndThen(
  { privateStore, givenLog, alerts, overview, diskUsed, copyAudit, onError }: OpenSignals,
  started: Started,
): void {
  const { noteEnd } = createHighWater(privateStore)
  const look = async (): Promise<void> => {
    const used = await diskUsed()
    const found = await overview().catch((error: Error) => error)
    alerts.look(found, used)
    if (found instanceof Error) return
    await givenLog.confirm().catch(onError)
    await noteEnd(found.seq).catch(onError)
    await copyAudit().catch(onError)
  }
  started.every(LOOK_MS, () => look().catch(alerts.look))
}
