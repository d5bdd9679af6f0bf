// The API reference through Varnish and nginx: the page is cached for a minute, its files without end, each requested once.
import { beforeAll, expect, inject, test } from 'vitest'
import { startServer } from '#api/http/http-server.ts'
import type { Layer } from '../../deploy/layers.ts'
import { atEndOfFile } from '../support/ends.ts'
import { openHistoryApp } from '../support/history/history-app.ts'
import { type WatchedTier, watchTier } from '../support/history/watched-tier.ts'
import { addressOf, ask, objectOf, startCdn } from '../support/servers/cdn.ts'

let tier: WatchedTier
let edge: Layer
let own: string

beforeAll(async () => {
  const stores = inject('tinyStore')
  const { app } = await openHistoryApp(stores)
  const server = await startServer(() => app.fetch, '127.0.0.1', 0)
  atEndOfFile(server.close)
  own = server.url
  tier = await watchTier(addressOf(own))
  ;({ edge } = await startCdn(tier, stores.url))
})

const HEADERS = [
  'content-type',
  'cache-control',
  'content-security-policy',
  'content-encoding',
  'etag',
  'vary',
]

test('is what the tier answers, in every coding, and is requested once for each', async () => {
  const page = (await ask(`${own}/docs/reference`)).bytes.toString()
  const files = [...page.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path = '']) => path)
  expect(files).toHaveLength(4)
  for (const coding of ['br', 'gzip', 'identity']) {
    for (const path of ['/docs/reference', ...files]) {
      const headers = { 'accept-encoding': coding }
      const [direct, first, second] = [
        await ask(own + path, headers),
        await ask(edge.url + path, headers),
        await ask(edge.url + path, headers),
      ]
      expect([path, first.status, first.bytes.equals(direct.bytes)]).toEqual([path, 200, true])
      expect(objectOf(second)).toBe(objectOf(first))
      for (const name of HEADERS)
        expect([path, name, first.headers[name]]).toEqual([path, name, direct.headers[name]])
    }
  }
  const asked = tier.answered.filter(line => line.includes('/docs'))
  expect(asked).toHaveLength(3 * 5)
})
