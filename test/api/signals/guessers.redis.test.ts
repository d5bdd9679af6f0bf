// Who tries keys that are none: refused without asking Redis after a while, and at nobody else's cost.
import type { IncomingMessage } from 'node:http'
import { Context } from 'hono'
import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { listenSignals } from '#api/signals/app.ts'
import type { SignalsEnv } from '#api/signals/exchange.ts'
import { createFailedKeys, MOST_FAILURES, WINDOW_MS } from '#api/signals/identify.ts'
import { createRemoteAddress } from '#api/signals/remote-address.ts'
import { revokeKey } from '#signals/clients/api-keys.ts'
import { createToken } from '#signals/clients/token.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, signalsParts, withKey } from '../../support/signals/signals-app.ts'
import { refusalOf } from './keyed-answers.ts'

let redis: Redis

const random = seededBytes('guessers')
const guess = (): string => createToken(random).token

useTestRedis(connected => {
  redis = connected
})

/** What the server knows of a request from an address. */
const from = (remoteAddress: string) => ({
  incoming: { socket: { remoteAddress } } as IncomingMessage, // all that the app reads of it
})

/** Commands that Redis was asked for keys with, since the counters were reset. */
const keysAsked = async (): Promise<number> =>
  Number(/cmdstat_hmget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)

describe('a guesser', () => {
  test('is answered without asking Redis after twenty wrong keys, for the rest of the minute', async () => {
    const { app, clock } = createTestSignals(redis)
    const ask = async (address: string) => {
      const response = await app.request('/v1/whoami', withKey(guess()), from(address))
      return [response.status, await refusalOf(response)] as const
    }
    await redis.config('RESETSTAT')
    const first = await ask('203.0.113.7')
    for (let i = 1; i < 50; i++) expect(await ask('203.0.113.7')).toEqual(first)
    expect(await keysAsked()).toBe(MOST_FAILURES)
    await ask('203.0.113.8')
    expect(await keysAsked()).toBe(MOST_FAILURES + 1)
    clock.ms = WINDOW_MS
    await ask('203.0.113.7')
    expect(await keysAsked()).toBe(MOST_FAILURES + 2)
  })

  test('does not shut out a neighbour whose key is known here, nor keep it alive when it dies', async () => {
    const { token, keyId } = await addClient(redis, 'acme', ['alder'], random)
    const { app } = createTestSignals(redis)
    const here = from('203.0.113.7')
    const whoami = async (key: string) => (await app.request('/v1/whoami', withKey(key), here)).status
    expect(await whoami(token)).toBe(200)
    for (let i = 0; i < MOST_FAILURES; i++) expect(await whoami(guess())).toBe(401)
    expect(await whoami(token)).toBe(200)
    await revokeKey(redis, keyId)
    expect(await whoami(token)).toBe(401)
  })

  test('of keys that cannot be one never reaches Redis, and does not use up the address', async () => {
    const { token } = await addClient(redis, 'acme', ['alder'], random)
    const { app } = createTestSignals(redis)
    await redis.config('RESETSTAT')
    for (let i = 0; i < 3 * MOST_FAILURES; i++) {
      expect((await app.request('/v1/whoami', withKey('nonsense'), from('203.0.113.7'))).status).toBe(401)
    }
    expect(await keysAsked()).toBe(0)
    expect((await app.request('/v1/whoami', withKey(token), from('203.0.113.7'))).status).toBe(200)
  })

  test('behind a proxy that is trusted is counted by the address that the proxy forwards, whatever it writes itself', async () => {
    const { parts } = signalsParts(redis)
    const settings = { ...parts.settings, trustedProxies: ['10.0.0.0/8'] }
    const { app } = createTestSignals(redis, { settings })
    const guessFrom = (proxy: string, forwarded: string) =>
      app.request(
        '/v1/whoami',
        { headers: { 'X-API-Key': guess(), 'X-Forwarded-For': forwarded } },
        from(proxy),
      )
    await redis.config('RESETSTAT')
    for (let i = 0; i < 2 * MOST_FAILURES; i++) await guessFrom('10.0.0.1', `198.51.100.${i}, 203.0.113.7`)
    expect(await keysAsked()).toBe(MOST_FAILURES)
    await guessFrom('10.0.0.1', '203.0.113.8')
    expect(await keysAsked()).toBe(MOST_FAILURES + 1)
    for (let i = 0; i < 2 * MOST_FAILURES; i++) await guessFrom('203.0.113.9', `198.51.100.${i}`) // no proxy of ours
    expect(await keysAsked()).toBe(2 * MOST_FAILURES + 1)
  })

  test('is counted by address, or by network where everyone has many; memory is bounded', () => {
    const remoteAddress = createRemoteAddress([])
    const toNeighbourhood = (address: string): string =>
      remoteAddress(new Context<SignalsEnv>(new Request('http://a/'), { env: from(address) }))
    expect(toNeighbourhood('203.0.113.7')).toBe('203.0.113.7')
    expect(toNeighbourhood('::ffff:203.0.113.7')).toBe('203.0.113.7')
    expect(toNeighbourhood('2001:db8:1:2:3:4:5:6')).toBe(toNeighbourhood('2001:db8:1:2::1'))
    expect(toNeighbourhood('2001:db8:1:3::1')).not.toBe(toNeighbourhood('2001:db8:1:2::1'))
    expect(toNeighbourhood('')).toBe('unknown')
    const failed = createFailedKeys(() => 0)
    for (let i = 0; i < MOST_FAILURES; i++) failed.add('first')
    expect(failed.isSpent('first')).toBe(true)
    for (let i = 0; i < 10_000; i++) failed.add(`other ${i}`)
    expect(failed.isSpent('first')).toBe(false) // the longest ago is forgotten
  })
})

describe('over a real connection', () => {
  test('the address of the socket counts, and no header that pretends another', async () => {
    const { parts } = signalsParts(redis)
    const running = await listenSignals(() => parts, '127.0.0.1', 0)
    try {
      await redis.config('RESETSTAT')
      for (let i = 0; i < MOST_FAILURES + 5; i++) {
        const headers = { 'X-API-Key': guess(), 'X-Forwarded-For': `198.51.100.${i}` }
        expect((await fetch(`${running.url}/v1/whoami`, { headers })).status).toBe(401)
      }
      expect(await keysAsked()).toBe(MOST_FAILURES)
    } finally {
      await running.close()
    }
  })
})
