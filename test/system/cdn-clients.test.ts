// Clients that leave before they are answered: nginx limits how many requests of each wait for the tier.
import { request, type ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import type { Layer } from '../../deploy/layers.ts'
import { ALLOWED_ORIGIN, ask, siteOf, startFiles, startOrigin } from '../support/servers/cdn.ts'
import { copyStores } from '../support/stores/stores.ts'

const FILE = '/v1/strategies'
const COMPUTED = '/v1/strategies/ash/stats?risk_pct=0.013'

/** As in highwater.conf. */
const MOST = 256

const held: ServerResponse[] = []
let isHolding = true
let files: Layer

beforeAll(async () => {
  const { url } = await copyStores(inject('tinyStore'))
  const tier = await startOrigin((_request, response) => {
    if (isHolding) held.push(response)
    else response.end('computed')
  })
  files = await startFiles(await siteOf(tier, { store: fileURLToPath(url) }))
})

const release = (): void => {
  isHolding = false
  for (const response of held.splice(0)) response.end('computed')
}

/** Requests of a client behind a trusted proxy, which leaves as soon as the tier has them. */
async function askAndLeave(client: string, count: number): Promise<void> {
  const before = held.length
  const sent = Array.from({ length: count }, () => {
    const one = request(files.url + COMPUTED, { agent: false, headers: { 'x-forwarded-for': client } })
    one.on('error', () => {}).end() // its connection is destroyed below
    return one
  })
  await expect.poll(() => held.length).toBe(before + count)
  for (const one of sent) one.destroy()
}

const askAs = (client: string, path = COMPUTED) =>
  ask(files.url + path, { 'x-forwarded-for': client, origin: ALLOWED_ORIGIN })

test.each([
  ['an IPv4 client', '203.0.113.7', '198.51.100.1, 203.0.113.7', '203.0.113.8'],
  ['the /64 of an IPv6 client', '2001:db8:0:7::1', '2001:db8:0:7:ffff::2', '2001:db8:0:8::1'],
])(
  '%s gets 503 while too many of its requests wait, and others are answered',
  async (_what, client, same, other) => {
    isHolding = true
    await askAndLeave(client, MOST)
    for (const address of [client, same]) {
      const { status, headers, bytes } = await askAs(address)
      expect([status, headers['retry-after'], headers['content-type']]).toEqual([
        503,
        '5',
        'application/json; charset=utf-8',
      ])
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'access-control-allow-origin': ALLOWED_ORIGIN,
        'access-control-expose-headers': expect.stringContaining('Retry-After'),
      })
      expect(JSON.parse(bytes.toString())).toMatchObject({ error: { code: 'overloaded', details: null } })
    }
    expect((await askAs(client, FILE)).status).toBe(200)
    await askAndLeave(other, 1)
    release()
    await expect.poll(async () => (await askAs(client)).status).toBe(200)
  },
)
