// Clients that try invalid keys: refused at the cost of one read, and at nobody else's cost.
import { Context } from 'hono'
import { expect, test } from 'vitest'
import type { ServiceEnv } from '#api/service/exchange.ts'
import { createRemoteAddress } from '#api/service/remote-address.ts'
import { WRONG_KEY_MS } from '#api/signals/identify.ts'
import { createToken } from '#signals/clients/token.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, withKey } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { from, refusalOf } from './keyed-answers.ts'

const random = seededBytes('guessers')
const guess = (): string => createToken(random).token

useRedis()

const PROXY = from('203.0.113.7')

/** An app whose script is loaded, and a clock that has begun. */
async function startApp() {
  const { app, clock } = createTestSignals(redis)
  const whoami = (token: string) => app.request('/v1/whoami', withKey(token), PROXY)
  await whoami(guess())
  clock.ms = 1
  await redis.config('RESETSTAT')
  return { whoami, clock }
}

/** Commands that came over a connection since the counters were reset, but for those of this test. */
async function commandsSent(): Promise<number> {
  const stats = await redis.info('commandstats')
  const calls = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  return calls('evalsha') + calls('eval')
}

const writes = async (): Promise<string | undefined> =>
  /rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))?.[1]

test('a valid key works after any number of wrong ones from its own address, also at its first use', async () => {
  const { whoami } = await startApp()
  for (let i = 0; i < 100; i++) expect((await whoami(guess())).status).toBe(401)
  const { token } = await addClient(redis, 'acme', ['alder'], random)
  expect((await whoami(token)).status).toBe(200)
})

test('a wrong key is always 401 with the same words, and costs one read and no write', async () => {
  const { whoami } = await startApp()
  const before = await writes()
  const first = await refusalOf(await whoami(guess()))
  for (let i = 1; i < 60; i++) {
    const response = await whoami(guess())
    expect([response.status, await refusalOf(response)]).toEqual([401, first])
  }
  expect(await commandsSent()).toBe(60)
  expect(await writes()).toBe(before)
})

test('a wrong key that is repeated costs nothing for a while, and is then looked up again', async () => {
  const { whoami, clock } = await startApp()
  const token = guess()
  for (let i = 0; i < 10; i++) expect((await whoami(token)).status).toBe(401)
  expect(await commandsSent()).toBe(1)
  clock.ms += WRONG_KEY_MS + 1
  expect((await whoami(token)).status).toBe(401)
  expect(await commandsSent()).toBe(2)
})

test('an address of IPv6 counts as its network, where everyone has many', () => {
  const remoteAddress = createRemoteAddress([])
  const toNeighbourhood = (address: string): string =>
    remoteAddress(new Context<ServiceEnv>(new Request('http://a/'), { env: from(address) }))
  expect(toNeighbourhood('203.0.113.7')).toBe('203.0.113.7')
  expect(toNeighbourhood('::ffff:203.0.113.7')).toBe('203.0.113.7')
  expect(toNeighbourhood('2001:db8:1:2:3:4:5:6')).toBe(toNeighbourhood('2001:db8:1:2::1'))
  expect(toNeighbourhood('2001:db8:1:3::1')).not.toBe(toNeighbourhood('2001:db8:1:2::1'))
  expect(toNeighbourhood('')).toBe('unknown')
})
