// What there is, for tools: `/` as JSON, and `/llms.txt`. Browsers are led to the page of the book.
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ROUTES, toLlmsText } from '#api/history/routes.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { DOCUMENTS, GUIDES } from '#pages/guides/documents.ts'

import { NOW_MS, SETTINGS } from '../../support/history/history-app.ts'
import { getEnvelope, openTiny } from './answers.ts'
import { undescribedFields } from './described.ts'
import { SIDS } from './paths.ts'
import { REGISTER } from './specification.ts'

const index = z.looseObject({
  service: z.string(),
  endpoints: z.array(z.looseObject({ path: z.string(), about: z.string() })),
})

const { app, answers } = await openTiny()

test('the index as JSON is enveloped, lists the route table, and links to addresses that answer', async () => {
  const { response, data, meta, links } = await getEnvelope(app, '/')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(undescribedFields(index, data)).toEqual([])
  expect(index.parse(data).endpoints).toEqual(ROUTES.map(({ path, about }) => ({ path, about })))
  expect(REGISTER.strict().parse(meta).generated_utc).toBe(new Date(NOW_MS).toISOString().replace('.000', ''))
  expect(links.self).toBe('/')
  for (const link of Object.values(links)) expect((await app.request(link)).status, link).toBe(200)
})

test.each([
  undefined,
  '*/*',
  'application/json',
  'text/plain',
  '',
  'application/json, text/html;q=0',
  'text/html;q=0.5, application/json',
  'text/html-sandboxed',
  ';;,=',
])('a tool that accepts %s gets the index as JSON', async accept => {
  const response = await app.request('/', accept === undefined ? {} : { headers: { accept } })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
})

const TEXT = toLlmsText(SETTINGS.publicBaseUrl)
const OTHERS = [
  ...['/openapi.json', '/docs', '/docs/reference'],
  ...[...GUIDES, ...DOCUMENTS].map(({ name }) => `/docs/guides/${name}`),
]
const LINK = /^- \[([^\]]+)\]\(([^)]+)\): (.+)$/

const links = TEXT.split('\n').flatMap(line => {
  const [, title, address, about] = LINK.exec(line) ?? []
  return title === undefined
    ? []
    : [{ title, path: address!.slice(SETTINGS.publicBaseUrl.length), about: about! }]
})

test('the log has as many bytes of the reference and of /llms.txt as were sent, in any coding, and none of a 304', async () => {
  for (const path of ['/docs/reference', '/llms.txt'])
    for (const coding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': coding }
      const response = await app.request(path, { headers })
      expect(answers.at(-1)?.bytes, path).toBe((await response.arrayBuffer()).byteLength)
      await app.request(path, { headers: { ...headers, 'if-none-match': response.headers.get('etag')! } })
      expect(answers.at(-1)).toMatchObject({ kind: '304', bytes: 0 })
    }
})

test('/llms.txt is served as text, compressed if the client accepts that, revalidates, and has one title and a summary', async () => {
  const response = await app.request('/llms.txt')
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await response.text()).toBe(TEXT)
  const zipped = await app.request('/llms.txt', { headers: { 'accept-encoding': 'gzip' } })
  expect(gunzipSync(await zipped.arrayBuffer()).toString()).toBe(TEXT)
  const etag = response.headers.get('etag')!
  expect((await app.request('/llms.txt', { headers: { 'if-none-match': etag } })).status).toBe(304)

  const [title, , summary] = TEXT.split('\n')
  expect(title).toMatch(/^# \S/)
  expect(summary).toMatch(/^> \S/)
  expect(TEXT.match(/^# /gm)).toHaveLength(1)
  expect(TEXT.endsWith('\n') && !TEXT.endsWith('\n\n')).toBe(true)
})

test('/llms.txt links every route and every file of the tables once, with what the tables say of it', () => {
  const paths = links.map(({ path }) => path)
  const tabled = [...ROUTES, ...FILE_ROUTES]
  expect([...paths].sort()).toEqual([...tabled.map(({ path }) => path), ...OTHERS].sort())
  for (const { path, title, about } of tabled) {
    const link = links.find(each => each.path === path)!
    expect(link.title).toBe(title)
    expect(link.about.startsWith(about)).toBe(true)
  }
})

test('/llms.txt names the parameters and formats of each route, and no others', () => {
  for (const { path, query, formats } of ROUTES) {
    const { about } = links.find(each => each.path === path)!
    const named = Object.keys(query).filter(name => name !== 'format')
    for (const name of named) expect(about).toContain(`\`${name}\``)
    expect(about.includes('Parameters:')).toBe(named.length > 0)
    expect(about.includes(`\`format\`: ${formats.join(', ')}.`)).toBe(formats.length > 1)
  }
})

test('/llms.txt links to addresses that answer', async () => {
  for (const { path } of links.filter(each => !each.path.includes('{') || each.path.includes('{sid}'))) {
    const isOptional = ['/.well-known/highwater-keys.json', '/v1/seals/head'].includes(path) // where the operator signs and seals
    const { status } = await app.request(path.replace('{sid}', SIDS[0]))
    expect(status, path).toBe(isOptional && status === 404 ? 404 : 200)
  }
})
