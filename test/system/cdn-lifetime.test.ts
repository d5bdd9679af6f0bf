// How long Varnish keeps what an origin says of itself in each way that the tier knows.
import { beforeAll, expect, test } from 'vitest'
import type { Layer } from '../../deploy/layers.ts'
import { ask, objectOf, purge, siteOf, startEdge, startOrigin } from '../support/servers/cdn.ts'

const DATASET = 'max-age=60, stale-while-revalidate=60, stale-if-error=86400'
const TAG = 'v-20250224T001500Z'

type Answer = { readonly status?: number; readonly headers: Readonly<Record<string, string>> }

const VARY = { vary: 'Accept-Encoding, Origin' }

/** By path, what the origin answers. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  '/targeted': {
    headers: {
      ...VARY,
      'cache-control': DATASET,
      'cdn-cache-control': 'max-age=86400',
      'cache-tag': TAG,
      xkey: TAG,
    },
  },
  '/plain': {
    headers: {
      ...VARY,
      'cache-control': DATASET,
      'cache-tag': `${TAG}, other`,
      'server-timing': 'app;dur=9',
    },
  },
  '/refused': { status: 422, headers: { ...VARY, 'cache-control': 'max-age=10' } },
  '/missing': { status: 404, headers: { ...VARY, 'cache-control': 'max-age=10' } },
  '/never': { headers: { ...VARY, 'cache-control': 'no-store' } },
  '/secret': { headers: { ...VARY, 'cache-control': 'private, max-age=60' } },
  '/cookie': { headers: { ...VARY, 'cache-control': DATASET, 'set-cookie': 'a=b' } },
  '/other-vary': { headers: { vary: 'Accept-Encoding, User-Agent', 'cache-control': DATASET } },
  '/v1/snapshots/20250224T001500Z/strategies': {
    headers: { ...VARY, 'cache-control': 'max-age=31536000, immutable' },
  },
}

let edge: Layer
beforeAll(async () => {
  const origin = await startOrigin(({ url = '' }, response) => {
    const { status = 200, headers } = ANSWERS[url] ?? { headers: VARY }
    response.writeHead(status, headers).end(url)
  })
  edge = await startEdge(await siteOf(origin, { nginx: origin }))
})

async function isKept(path: string): Promise<boolean> {
  const [first, second] = [await ask(edge.url + path), await ask(edge.url + path)]
  return objectOf(first) === objectOf(second)
}

test.each(['/targeted', '/plain', '/refused', '/missing', '/v1/snapshots/20250224T001500Z/strategies'])(
  '%s is kept',
  async path => {
    expect(await isKept(path)).toBe(true)
  },
)

test.each(['/never', '/secret', '/cookie', '/other-vary'])('%s is not kept', async path => {
  expect(await isKept(path)).toBe(false)
})

test('what is meant for the CDN alone stays there, and the age that it would give away too', async () => {
  await ask(`${edge.url}/targeted`)
  const { headers } = await ask(`${edge.url}/targeted`)
  expect(headers['cache-control']).toBe(DATASET)
  for (const name of ['cdn-cache-control', 'cache-tag', 'xkey', 'age'])
    expect(headers).not.toHaveProperty(name)
  const plain = await ask(`${edge.url}/plain`)
  expect(plain.headers).toHaveProperty('age')
  expect(plain.headers).not.toHaveProperty('server-timing')
})

test('a purge takes what carries the tag, in either header, and nothing else', async () => {
  const paths = ['/targeted', '/plain', '/missing', '/v1/snapshots/20250224T001500Z/strategies']
  const objects = async () => Promise.all(paths.map(async path => objectOf(await ask(edge.url + path))))
  const before = await objects()
  const changed = (after: readonly number[]) => after.map((object, i) => object !== before[i])
  expect((await purge(edge, 'v-20990101T000000Z')).status).toBe(200)
  expect(changed(await objects())).toEqual([false, false, false, false])
  await purge(edge, TAG)
  expect(changed(await objects())).toEqual([true, true, false, false])
  await purge(edge, 'unpinned')
  expect(changed(await objects())).toEqual([true, true, true, false])
})
