import type { Redis } from 'ioredis'
import { createSignalsApp } from '#api/signals/app.ts'
import type { SignalsParts, SignalsRoute } from '#api/signals/exchange.ts'
import { digestOf } from '#signals/clients/token.ts'
import type { RegisterParts } from '#signals/outbox/register-webhook.ts'
import { createPreviewLimits } from '#signals/program/preview-limits.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { BOX, delivered } from './delivery.ts'
import { PROGRAM } from './served-program.ts'
import { NOW_MS, seededBytes } from './signals.ts'

/** The origin of a web page that may read the preview. */
export const PAGE_ORIGIN = 'https://www.example.org'

/** The parts of a signals app on a Redis, with a clock that stands still unless the test moves it. */
export function signalsParts(redis: Redis, changes: Partial<SignalsParts> = {}) {
  const errors: unknown[] = []
  const clock = { ms: 0 }
  const parts: SignalsParts = {
    redis,
    privateStore: createMemoryStore(),
    clock: { now: () => NOW_MS + clock.ms, elapsed: () => clock.ms },
    settings: {
      publicBaseUrl: 'https://signals.example.org',
      historyBaseUrl: 'https://data.example.org',
      trustedProxies: [],
      deprecatedAtMs: null,
      sunsetAtMs: null,
    },
    program: () => PROGRAM,
    limits: createPreviewLimits(
      redis,
      () => clock.ms,
      error => errors.push(error),
    ),
    allowedOrigins: new Set([PAGE_ORIGIN]),
    registering: registerParts(redis, () => NOW_MS + clock.ms),
    isDraining: () => false,
    operatorDigest: digestOf('the token of an operator'),
    pause: async () => {},
    assertClock: async () => {},
    onAnswered: () => {},
    onError: error => errors.push(error),
    ...changes,
  }
  return { parts, errors, clock }
}

/** What a registration needs; every address acknowledges its test, unless `send` says otherwise. */
export function registerParts(redis: Redis, now: () => number, send?: RegisterParts['send']): RegisterParts {
  let tokens = 0
  return {
    redis,
    box: BOX,
    now,
    newToken: () => `t${++tokens}`,
    drawBytes: seededBytes('registrations'),
    rules: { allowLoopback: true },
    send: send ?? (async () => delivered()),
    onChange: () => {},
  }
}

/** The app itself; `errors` collects what it complains of, `clock.ms` is how far time went on. */
export function createTestSignals(redis: Redis, changes: Partial<SignalsParts> = {}) {
  const made = signalsParts(redis, changes)
  return { ...made, app: createSignalsApp(made.parts) }
}

/** A request with a key. */
export const withKey = (token: string, method = 'GET'): RequestInit => ({
  method,
  headers: { 'X-API-Key': token },
})

/** Whether a route needs no key. */
export const isKeyless = ({ group }: SignalsRoute): boolean => group === 'open' || group === 'preview'

/** The path of a route, with the endpoint and the number that a test means. */
export const pathOf = ({ path }: SignalsRoute, endpoint = 'default', seq: number | string = 1): string =>
  path.replace('{endpoint}', endpoint).replace('{seq}', String(seq))

/** A request with a key, as a route takes it: with a body where it wants one. */
export const requestOf = ({ id, method, body }: SignalsRoute, token: string | null): RequestInit => ({
  method,
  headers: {
    ...(token === null ? {} : { 'X-API-Key': token }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  },
  ...(body === undefined ? {} : { body: BODIES[id] ?? INPUT }),
})

const WEBHOOK = '{"url":"https://hooks.example.org/token-of-mine"}'
const INPUT = '{"equity_usd":5000,"contribution_cadence_bars":14}'
const BODIES: Readonly<Record<string, string>> = {
  ...{ put_webhook: WEBHOOK, put_endpoint: WEBHOOK },
  ...{ patch_endpoint: '{"paused":false}', rotate_endpoint: '{}', resend: '{"from":1}' },
}
