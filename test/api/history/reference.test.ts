// The reference of both services: a page under a strict policy, and files that never change; a browser looks at it elsewhere.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSignalsApp } from '#api/signals/app.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { signalsParts } from '../../support/signals/signals-app.ts'
import { openEmpty } from './answers.ts'
import { codingOf, decodedText } from './decode.ts'

/** Never asked, so never connected. */
const redis = new Redis({ lazyConnect: true })
afterAll(() => redis.disconnect())

describe.each([
  ['history', '/docs/reference'],
  ['signals', '/docs'],
] as const)('the reference of the %s service', (service, page) => {
  let request: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
  let files: string[]

  beforeAll(async () => {
    const app = service === 'history' ? (await openEmpty()).app : createSignalsApp(signalsParts(redis).parts)
    request = async (path, headers = {}) => app.request(path, { headers })
    files = [...(await (await request(page)).text()).matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    )
  })

  test('the reference may load nothing but its own files, run nothing else, and stand in no other page', async () => {
    const { status, headers } = await request(page)
    const policy = headers.get('content-security-policy') ?? ''
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const own = ['script-src', 'style-src', 'connect-src'].map(what => `${what} 'self'`)
    expect(policy.split('; ')).toEqual(expect.arrayContaining(["default-src 'none'", ...own]))
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('cache-control')).toContain('max-age=60')
  })

  test('the reference has its scripts and styles in files that caches keep for ever', async () => {
    const names = ['swagger-ui.css', 'reference.css', 'swagger-ui-bundle.js', 'reference.js']
    expect(files.map(path => path.replace(/^\/docs\/[0-9a-f]{16}\//, ''))).toEqual(names)
    for (const path of files) {
      const { status, headers } = await request(path)
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/css'
      expect([status, headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
      expect(headers.get('cache-control')).toBe('max-age=31536000, immutable')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('the files of the reference are sent in the requested coding, and without a body to a client that has them', async () => {
    const smallest = files.at(-1)!
    const plain = await (await request(smallest)).text()
    for (const coding of ['br', 'gzip']) {
      const response = await request(smallest, { 'accept-encoding': coding })
      expect(codingOf(response)).toBe(coding)
      expect(await decodedText(response.clone())).toBe(plain)
      const etag = response.headers.get('etag') ?? ''
      const again = await request(smallest, { 'accept-encoding': coding, 'if-none-match': etag })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  })

  test('the reference may be read by the origins that may read the rest of the service, so by none if a key is needed', async () => {
    for (const path of [page, files[0]!]) {
      for (const origin of [ALLOWED_ORIGIN, 'https://other.example.org']) {
        const { headers } = await request(path, { origin })
        const isAllowed = service === 'history' && origin === ALLOWED_ORIGIN
        expect(headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null)
      }
    }
  })

  test('the folder of the reference has no other file', async () => {
    const folder = files[0]!.replace('/swagger-ui.css', '')
    const others = [`${folder}/package.json`, `${folder}/..%2fapp.ts`, '/docs/0/reference.js', '/docs/']
    for (const path of others) expect([path, (await request(path)).status]).toEqual([path, 404])
  })
})
