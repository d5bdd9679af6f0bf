// The operator's app for tests: a real Redis behind it, and addresses that acknowledge whatever is sent.
import type { Hono } from 'hono'
import type { Redis } from 'ioredis'
import { createOperatorApp } from '#api/operator/app.ts'
import type { OperatorParts } from '#api/operator/exchange.ts'
import { hostsOf } from '#api/operator/guard.ts'
import type { ServiceEnv } from '#api/service/exchange.ts'
import { createSecretBox, parseKeyRing } from '#signals/outbox/secret-box.ts'
import { saveWebhook } from '#signals/outbox/webhooks.ts'
import { createWebhookSecret } from '#signals/send/sign.ts'
import { BY_OPERATOR } from './delivery.ts'
import { NOW_MS, PROGRAM_ALIAS, seededBytes } from './signals.ts'
import { registerParts } from './signals-app.ts'

export const TOKEN = 'operator-token-of-a-test-0123456789abcdef'

/** The text of `testRing`, for SECRET_KEY. */
export const secretKeyOf = (id = 'k1'): string =>
  `${id}:${Buffer.alloc(32, id.charCodeAt(1)).toString('base64')}`

export const testRing = (id = 'k1') => parseKeyRing(secretKeyOf(id))

export const testBox = (id = 'k1') => createSecretBox(testRing(id), seededBytes(`box ${id}`))

/** Sets the webhook of a client without a test of its address; gives its secret. */
export async function setWebhook(
  redis: Redis,
  client: string,
  url = `https://hooks.${client}.example.org/signals/in`,
  box = testBox(),
): Promise<string> {
  const text = createWebhookSecret(seededBytes('webhooks'))
  const secrets = [{ text, expiresAtMs: null }]
  await saveWebhook(redis, box, { destination: client, url, secrets }, BY_OPERATOR)
  return text
}

export function operatorParts(redis: Redis, more: Partial<OperatorParts> = {}): OperatorParts {
  let requests = 0
  return {
    redis,
    clock: { now: () => NOW_MS, elapsed: () => 0 },
    token: TOKEN,
    hosts: hostsOf('127.0.0.1'),
    aliases: () => new Set(['alder', 'birch']),
    baseRiskOf: () => 0.02,
    accountUrl: 'https://signals.example.org/account',
    programAlias: () => PROGRAM_ALIAS,
    random: seededBytes('operator'),
    newRequestId: () => `r${++requests}`,
    registering: { ...registerParts(redis, more.clock?.now ?? (() => NOW_MS)), box: testBox() },
    published: async () => null,
    rollBack: async () => {},
    alerts: () => [],
    builds: async () => [
      {
        run: '20261122T001500Z',
        dataset_version: '2026-11-22T00:15:00Z',
        phase: 'render',
        done: 812,
        total: 1000,
        workers: { 'build-1:812': 401, 'build-2:4711': 411 },
        progressed_at: new Date(NOW_MS - 2_000).toISOString(),
      },
    ],
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
    onAction: () => {},
    pause: async () => {},
    onGuessing: () => {},
    onAnswered: () => {},
    onError: error => {
      throw error
    },
    ...more,
  }
}

export const ORIGIN = 'http://127.0.0.1:8082'

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A browser without a window, on the page of a service: one cookie, and forms. */
export function browserOn(app: Pick<Hono<ServiceEnv>, 'request'>, origin: string) {
  let cookie = ''
  const send = async (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) => {
    const response = await app.request(origin + path, {
      ...init,
      headers: { host: new URL(origin).host, cookie, ...headers },
    })
    cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? cookie
    const text = await response.text()
    const csrf = /name="csrf" value="(\w+)"/.exec(text)?.[1] ?? ''
    return { status: response.status, headers: response.headers, text, csrf }
  }
  return {
    get: (path: string) => send(path),
    post: (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
      const body = new URLSearchParams(fields).toString()
      return send(path, { method: 'POST', body }, { ...FORM, origin, ...headers })
    },
    cookie: () => cookie,
  }
}

/** The same on the operator's page. */
export function operatorBrowser(parts: OperatorParts) {
  const browser = browserOn(createOperatorApp(parts), ORIGIN)
  return { ...browser, logIn: (token = TOKEN) => browser.post('/ops/login', { token }) }
}

/** Asks the app as the command line does. */
export function operatorClient(parts: OperatorParts) {
  const app = createOperatorApp(parts)
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await app.request(ORIGIN + path, {
      method,
      headers: {
        host: '127.0.0.1:8082',
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const json: unknown = response.headers.get('content-type')?.startsWith('application/json')
      ? JSON.parse(text)
      : null
    return { status: response.status, headers: response.headers, text, json }
  }
}
