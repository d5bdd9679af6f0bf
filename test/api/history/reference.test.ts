// The reference of each service: a page under a strict policy with all that its document says, and files that never change; a
// browser looks at it elsewhere.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOperatorApp } from '#api/operator/app.ts'
import { createCodedBytes } from '#api/service/content-coding.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { openApiDocuments } from '../../support/http/openapi-documents.ts'
import { ORIGIN, operatorParts } from '../../support/signals/operator.ts'
import { signalsParts } from '../../support/signals/signals-app.ts'
import { openEmpty } from './answers.ts'
import { codingOf, decodedText } from './decode.ts'

/** Never asked, so never connected. */
const redis = new Redis({ lazyConnect: true })
afterAll(() => redis.disconnect())

const appOf = async (service: 'history' | 'signals' | 'operator') => {
  if (service === 'history') return (await openEmpty()).app
  return service === 'signals'
    ? createSignalsApp(signalsParts(redis).parts)
    : createOperatorApp(operatorParts(redis))
}

const DOCUMENTS = await openApiDocuments()

/** What a document says of an interface, as text: names, descriptions, formulas, limits, examples of refusals. */
function saidIn(node: unknown, name = ''): string[] {
  if (name === 'example' || name === 'propertyNames' || node === null) return []
  if (typeof node !== 'object') return SAID.includes(name) ? [String(node)] : []
  if (name === 'examples') return Object.keys(node)
  if (Array.isArray(node)) return node.flatMap(each => (SAID.includes(name) ? [String(each)] : saidIn(each)))
  const names = name === 'properties' ? Object.keys(node) : []
  return [...names, ...Object.entries(node).flatMap(([key, each]) => saidIn(each, key))]
}

const SAID = [
  'name',
  'description',
  'x-formula',
  'x-null-when',
  'x-convention',
  'pattern',
  'x-required-scope',
]

/** The text of a page as a reader sees it, and of code without its backticks. */
const plain = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ')

const ENTITIES = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' } as const

const textOf = (markup: string): string =>
  plain(
    markup
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name]),
  )

describe.each([
  ['history', '/docs/reference'],
  ['signals', '/docs'],
  ['operator', '/docs'],
] as const)('the reference of the %s service', (service, page) => {
  let request: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
  let files: string[]

  beforeAll(async () => {
    const app = await appOf(service)
    request = async (path, headers = {}) =>
      app.request(ORIGIN + path, { headers: { host: new URL(ORIGIN).host, ...headers } })
    files = [
      ...(await (await request(page)).text()).matchAll(/(?:src|href)="(\/docs\/[0-9a-f]{16}\/[^"]+)"/g),
    ].map(([, path = '']) => path)
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

  test('the reference says all that its document says, has the addresses of links from before, and no link to nothing', async () => {
    const { paths, components } = DOCUMENTS[service]
    const markup = await (await request(page)).text()
    const text = textOf(markup)
    const said = new Set(saidIn([paths, components.schemas]).map(plain))
    expect(said.size).toBeGreaterThan(200)
    expect([...said].filter(each => !text.includes(each) && !/^(Refused|The answer)\b/.test(each))).toEqual(
      [],
    )
    const ids = [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
    for (const methods of Object.values(paths))
      for (const { tags, operationId } of Object.values(methods))
        expect(ids).toContain(`/${tags[0]}/${operationId}`)
    const links = [...markup.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.filter(each => !ids.includes(each))).toEqual([])
    const { bytes } = await createCodedBytes(markup, 'text/html')('br')
    expect(bytes.length).toBeLessThan(60_000)
  })

  test('the reference has its script and style in files that caches keep for ever', async () => {
    expect(files.map(path => path.replace(/^\/docs\/[0-9a-f]{16}\//, ''))).toEqual(['style.css', 'copy.js'])
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
    const folder = files[0]!.replace('/style.css', '')
    const others = [`${folder}/package.json`, `${folder}/..%2fapp.ts`, '/docs/0/copy.js', '/docs/']
    for (const path of others) expect([path, (await request(path)).status]).toEqual([path, 404])
  })
})
