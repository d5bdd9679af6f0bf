// `/`: what there is, as JSON for tools and as a page for people.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { ROUTES } from '#api/history/routes.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { createMemoryStores, publishInMemory } from '../../support/books/publish-in-memory.ts'
import { createTestApp, NOW_MS, openHistoryApp } from '../../support/history/history-app.ts'
import { type App, getEnvelope } from './answers.ts'
import { undescribedFields } from './described.ts'
import { SIDS } from './paths.ts'
import { REGISTER } from './specification.ts'

const index = z.looseObject({
  service: z.string(),
  endpoints: z.array(z.looseObject({ path: z.string(), about: z.string() })),
})

let app: App

beforeAll(async () => {
  app = (await openHistoryApp(inject('tinyStore'))).app
})

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const pageOf = async (of: App) => (await of.request('/', { headers: { accept: BROWSER } })).text()

describe('the index as JSON', () => {
  test('is enveloped and lists the route table', async () => {
    const { response, data, meta, links } = await getEnvelope(app, '/')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(undescribedFields(index, data)).toEqual([])
    expect(index.parse(data).endpoints).toEqual(ROUTES.map(({ path, about }) => ({ path, about })))
    expect(REGISTER.strict().parse(meta).generated_utc).toBe(
      new Date(NOW_MS).toISOString().replace('.000', ''),
    )
    expect(links.self).toBe('/')
  })

  test('links to what answers', async () => {
    const { links } = await getEnvelope(app, '/')
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
  ])('is what a tool that accepts %s gets', async accept => {
    const response = await app.request('/', accept === undefined ? {} : { headers: { accept } })
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })
})

describe('the index as a page', () => {
  test('is HTML for a browser, and may neither run nor load anything', async () => {
    const response = await app.request('/', { headers: { accept: BROWSER } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')?.split('; ')
    expect(policy).toContain("default-src 'none'")
    expect(policy?.filter(directive => directive.includes('script'))).toEqual([])
    const page = await response.text()
    expect(page.startsWith('<!doctype html>')).toBe(true)
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|src=|javascript:/i)
  })

  test('names every strategy and every endpoint, and its links answer', async () => {
    const page = await pageOf(app)
    for (const sid of SIDS) expect(page).toContain(`href="/v1/strategies/${sid}"`)
    for (const { path } of ROUTES) expect(page).toContain(`<code>${path}</code>`)
    const links = new Set([...page.matchAll(/href="([^"]*)"/g)].map(match => match[1]!))
    expect(links.size).toBeGreaterThan(SIDS.length)
    for (const link of links) expect((await app.request(link)).status, link).toBe(200)
  })

  test('shows no number that does not exist, not even of an account that is ruined, flat or a day old', async () => {
    const stores = createMemoryStores()
    const odd = handSnapshot([
      { id: 'ruined', returns: [0.1, -1, 0] },
      { id: 'flat', returns: new Float64Array(400) },
      { id: 'new', returns: [0.01] },
    ])
    await publishInMemory(stores, odd)
    const { app: served } = await createTestApp(stores.store, stores.privateStore)
    for (const page of [await pageOf(app), await pageOf(served)]) {
      expect(page).not.toMatch(/NaN|undefined|null|Infinity/)
      expect(page.match(/<svg/g)?.length).toBe(
        page.match(/<path d="M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)*"/g)?.length,
      )
    }
  })

  test('shows no minus on a figure that rounds to nothing', async () => {
    const stores = createMemoryStores()
    const still = { id: 'still', returns: Array.from({ length: 400 }, (_, i) => (i === 0 ? -1e-5 : 0)) }
    await publishInMemory(stores, handSnapshot([still]))
    const page = await pageOf((await createTestApp(stores.store, stores.privateStore)).app)
    expect(page).toContain('>0.0 %<')
    expect(page).not.toMatch(/>-0[.0]*( %)?</)
  })

  test('says so where no dataset is loaded', async () => {
    const { store, privateStore } = createMemoryStores()
    const empty = await createTestApp(store, privateStore)
    expect(await pageOf(empty.app)).toContain('No dataset is loaded yet.')
  })

  test('prints what operators wrote as text, whatever it holds', async () => {
    const stores = createMemoryStores()
    const name = `<script>alert('&"')</script>`
    const hostile = handSnapshot([{ id: 's', name, blurb: name, returns: [0.01, -0.02] }], {
      name: `</title>${name}`,
      disclaimer: `<img src=x onerror="alert(1)">`,
    })
    await publishInMemory(stores, hostile)
    const { app: served } = await createTestApp(stores.store, stores.privateStore)
    const page = await pageOf(served)
    expect(page).not.toMatch(/<script|<img/)
    expect(page.match(/<\/title>/g)).toHaveLength(1)
    expect(page).toContain('&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;')
    expect(page).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;')
    const json = await served.request('/v1/strategies/s')
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8') // never taken for a page
    expect(json.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('is rendered again when another version is served', async () => {
    const stores = createMemoryStores()
    await publishInMemory(stores, handSnapshot([{ id: 's', name: 'Before', returns: [0.01] }]))
    const { app: served, source } = await createTestApp(stores.store, stores.privateStore)
    expect(await pageOf(served)).toContain('Before')
    const version = '2024-06-02T00:15:00Z'
    await publishInMemory(stores, handSnapshot([{ id: 's', name: 'After', returns: [0.01] }], { version }))
    expect(await pageOf(served)).toContain('Before')
    await source.refresh()
    const page = await pageOf(served)
    expect(page).toContain('After')
    expect(page).toContain(version)
    expect(page).not.toContain('Before')
  })
})
