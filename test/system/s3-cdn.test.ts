// A store in a bucket: the cache in front of the tier keeps published files away from it.
import { expect, test } from 'vitest'
import { manifestKey } from '#core/contract/artifacts.ts'
import { manifest } from '#core/contract/manifest.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { openStore } from '#storage/open-store.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { startServing } from '../support/history/history-process.ts'
import { watchTier } from '../support/history/watched-tier.ts'
import { addressOf, ask, siteOf, startEdge } from '../support/servers/cdn.ts'
import { tinyS3Stores } from '../support/stores/s3-stores.ts'
import { bytesOf } from '../support/stores/stored-bytes.ts'

const CODINGS = ['br', 'gzip', 'identity']
const REPETITIONS = 5
const OWN_HEADERS = ['content-type', 'content-encoding', 'content-location', 'cache-control', 'etag', 'vary']

test('each published file passes through the tier once in each coding, and is the same from the cache', async () => {
  const stores = await tinyS3Stores()
  const service = await startServing(stores)
  const tier = await watchTier(addressOf(service.url))
  const edge = await startEdge(await siteOf(tier, { nginx: tier })) // no nginx: it serves folders
  const text = await bytesOf(await openStore(stores.url, stores.s3), manifestKey(TINY_VERSION))
  const { artifacts } = manifest.parse(JSON.parse(new TextDecoder().decode(text)))
  const addresses = artifacts.flatMap(({ url }) => {
    const isFile = /\.(html|js|css)$/.test(url) // its own address leads to the version
    return isFile ? [pinnedPath(TINY_VERSION, url)] : [url, pinnedPath(TINY_VERSION, url)]
  })
  for (const address of addresses) {
    for (const coding of CODINGS) {
      const headers = { 'accept-encoding': coding }
      const direct = await ask(service.url + address, headers)
      for (let i = 0; i < REPETITIONS; i++) {
        const got = await ask(edge.url + address, headers)
        expect([got.status, got.bytes.equals(direct.bytes)], address).toEqual([200, true])
        for (const name of OWN_HEADERS)
          expect(got.headers[name], `${address} ${name}`).toBe(direct.headers[name])
      }
    }
  }
  const asked = tier.answered.filter(line => addresses.includes(line.slice('200 '.length)))
  expect(asked.length).toBe(addresses.length * CODINGS.length)
})
