// The pages of a version through the tier: where they are, what they may do, and what they print of any book.
import { expect, test } from 'vitest'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { createMemoryStores, publishInMemory } from '../../support/books/publish-in-memory.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { type App, openTiny } from './answers.ts'
import { SIDS } from './paths.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const VERSION = '/v1/snapshots/20250224T001500Z'

const { app } = await openTiny()

/** The kinds of pages of a version, the sheet of this strategy among them. */
const AS_BROWSER = { headers: { accept: BROWSER } }

const pagesOf = (sid: string) =>
  [...'index explore versions check'.split(' '), `strategies/${sid}/sheet`].map(name => `${name}.html`)

/** What a browser shows of an address. */
async function browse(of: App, address: string): Promise<string> {
  const response = await of.request(address, { headers: { accept: BROWSER } })
  const to = response.headers.get('location')
  return to === null ? response.text() : browse(of, to)
}

async function appOf(snapshot: ReturnType<typeof handSnapshot>) {
  const stores = createMemoryStores()
  await publishInMemory(stores, snapshot)
  return { ...(await createTestApp(stores.store, stores.privateStore)), stores }
}

test.each([
  ['/', 'index.html'],
  ['/explore?with=ash,elm', 'explore.html?with=ash,elm'],
  ['/versions', 'versions.html'],
  ['/check', 'check.html'],
  ['/strategies/ash?risk_pct=0.01', 'strategies/ash/sheet.html?risk_pct=0.01'],
])('the address %s leads to the page of the served version, and keeps the query', async (address, file) => {
  const response = await app.request(address, { headers: { accept: BROWSER } })
  expect([response.status, response.headers.get('location')]).toEqual([307, `${VERSION}/${file}`])
  expect(response.headers.get('cache-tag')).toBe('v-20250224T001500Z')
})

test('the address of a page leads to the next version as soon as it is served', async () => {
  const first = handSnapshot([{ id: 's', name: 'Before', returns: [0.01] }])
  const { app: served, source, stores } = await appOf(first)
  expect(await browse(served, '/')).toContain('Before')
  const version = '2024-06-02T00:15:00Z'
  await publishInMemory(stores, handSnapshot([{ id: 's', name: 'After', returns: [0.01] }], { version }))
  expect(await browse(served, '/')).toContain('Before')
  await source.refresh()
  const page = await browse(served, '/')
  expect(page).toContain('After')
  expect(page).toContain(version)
  expect(page).not.toContain('Before')
})

const request = (path: string, accept?: string) =>
  app.request(path, accept === undefined ? {} : { headers: { accept } })

test.each([
  ['/strategies/nobody', null],
  ['/strategies/Beach', '/strategies/beech'],
  ['/strategies/elmm/anything', '/strategies/elm'],
  ['/explorr', '/explore'],
  ['/<script>alert(1)</script>', null],
  ['/docs/guides/nothing', '/docs'],
  [`${VERSION}/strategies/beach/sheet.html`, '/strategies/beech'],
  [`${VERSION}/nothing.html`, null],
  ['/v1/snapshots/20010101T000000Z/index.html', null],
])('the unknown page %s is a 404 page with links for browsers, and JSON otherwise', async (path, near) => {
  const response = await request(path, BROWSER)
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(response.headers.get('cache-control')).toBe('max-age=10')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  const page = await response.text()
  expect(page).toContain('<h1>Page not found</h1>')
  expect(page).not.toContain('<script>')
  const main = page.slice(page.indexOf('<main'), page.indexOf('</main>'))
  const links = [...main.matchAll(/href="([^"]+)"/g)].map(([, link]) => link)
  expect(links).toEqual([...(near === null ? [] : [near]), '/', '/docs'])
  for (const [, link] of page.matchAll(/(?:href|src)="(\/[^"]*)"/g))
    expect((await app.request(link!)).status, link).toBeLessThan(400)
  for (const accept of [undefined, '*/*', 'application/json']) {
    const other = await request(path, accept)
    const type = other.headers.get('content-type')
    expect([other.status, type]).toEqual([404, 'application/json; charset=utf-8'])
    expect(await other.json()).toMatchObject({ error: { code: 'not_found' } })
    expect([response, other].map(({ headers }) => headers.get('vary'))).toEqual(
      Array(2).fill('Accept-Encoding, Origin, Accept'),
    )
  }
})

test('an unknown address of the API is answered with JSON, also for a browser, so that caches keep one answer', async () => {
  for (const path of ['/v1/nothing', '/v1/strategies/nobody', `${VERSION}/nothing.csv`]) {
    const response = await request(path, BROWSER)
    const vary = response.headers.get('vary')
    expect([path, response.status, vary]).toEqual([path, 404, 'Accept-Encoding, Origin'])
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } })
  }
})

test('a page may load nothing from elsewhere and run nothing but the scripts of its version, whose digests it names', async () => {
  const response = await app.request(`${VERSION}/strategies/ash/sheet.html`)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const policy = response.headers.get('content-security-policy')?.split('; ')
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]),
  )
  const page = await response.text()
  const scripts = [...page.matchAll(/<script [^>]*>/g)].map(([tag]) => tag)
  for (const tag of scripts)
    expect(tag).toMatch(/ type="application\/(ld\+)?json"| src="[^"]+" integrity="sha256-/)
  expect(page).not.toMatch(/\son\w+=|javascript:|style=/i)
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\/(?!example\.org)/)
})

test('the pages link to addresses that answer', async () => {
  const links = new Set<string>()
  for (const file of pagesOf('ash')) {
    const base = `http://localhost${VERSION}/${file}`
    for (const [, link] of (await browse(app, base)).matchAll(/(?:href|src)="([^"#]*)"/g)) {
      const { host, pathname, search } = new URL(link!, base)
      if (host === 'localhost' && !/\.sig$|highwater-keys/.test(pathname)) links.add(pathname + search)
    }
  }
  for (const sid of SIDS) expect(links).toContain(`${VERSION}/strategies/${sid}/sheet.html`)
  expect(links.size).toBeGreaterThan(20)
  for (const link of links) expect((await app.request(link)).status, link).toBe(200)
})

test('a page describes itself for previews, search engines and citations by addresses that answer', async () => {
  const snapshot = handSnapshot(
    [{ id: 's', name: 'Quoted "S"', blurb: 'Crosses & stops.', returns: [0.01, -0.02] }],
    {
      public_url: 'https://data.example.org',
      synthetic: true,
      licence: { name: 'CC0-1.0', title: null, path: null },
    },
  )
  const { app: served } = await appOf(snapshot)
  const pinned = 'https://data.example.org/v1/snapshots/20240601T001500Z'
  for (const file of pagesOf('s')) {
    const page = await (await served.request(`${pinned}/${file}`)).text()
    const found = page.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)"/g)
    const heads = Object.fromEntries([...found].map(([, name, text]) => [name, text]))
    const of = file.replace('sheet.html', '').replace(/^\w+\.html$/, '')
    expect(heads, file).toMatchObject({
      'og:title': expect.stringMatching(/. \(synthetic data\)$/),
      'og:description': heads.description,
      'og:site_name': 'Hand',
      'og:image': `${pinned}/${of}picture.png`,
    })
    expect(heads.description, file).toMatch(/^Synthetic data\. ./)
    expect(page).toMatch(/<title>.+ · Hand \(synthetic data\)<\/title>/)
    expect(page).toContain(`<link rel="canonical" href="${heads['og:url']}">`)
    expect((await served.request(heads['og:url']!, AS_BROWSER)).headers.get('location'), file).toBe(
      `${pinned.slice('https://data.example.org'.length)}/${file}`,
    )
    const [citation, ...others] = page.match(/<cite.*?<\/cite>/gs) ?? []
    expect(citation, file).toContain(
      `, Hand, version 2024-06-01T00:15:00Z, <span id="address">${pinned}/${file}</span>`,
    )
    expect(others, file).toEqual([])
    const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? []
    const described = JSON.parse(json)
    expect(described, file).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Dataset',
      version: '2024-06-01T00:15:00Z',
      identifier: `${pinned}/${file}`,
      temporalCoverage: '2024-01-01/2024-01-02',
      license: { '@type': 'CreativeWork', name: 'CC0-1.0' },
      isBasedOn: [{ '@type': 'CreativeWork', name: expect.stringMatching(/./) }],
    })
    expect(described.distribution.length).toBeGreaterThan(1)
    for (const { contentUrl, encodingFormat } of described.distribution) {
      const response = await served.request(contentUrl)
      expect([contentUrl, response.status]).toEqual([contentUrl, 200])
      expect(response.headers.get('content-type')).toContain(encodingFormat)
    }
  }
  const sheet = await (await served.request(`${pinned}/strategies/s/sheet.html`)).text()
  expect(sheet).toContain(
    `<cite id="citation">Quoted &quot;S&quot;, Hand, version 2024-06-01T00:15:00Z, <span id="address">${pinned}/strategies/s/sheet.html</span></cite>`,
  )
})

test('every page in the map of the site leads to a page that names the same address as canonical, and that robots may read, pictures and styles with it', async () => {
  const base = 'https://data.example.org'
  const snapshot = handSnapshot([{ id: 's', returns: [0.01] }], { public_url: base })
  const { app: served } = await appOf(snapshot)
  const textAt = async (path: string) => (await served.request(base + path)).text()
  const robots = await textAt('/robots.txt')
  const rules = [...robots.matchAll(/^(Allow|Disallow): (.+)$/gm)].map(([, verdict, path = '']) => ({
    verdict,
    length: path.length,
    pattern: new RegExp(`^${path.replaceAll(/[.?]/g, '\\$&').replaceAll('*', '.*')}`),
  }))
  /** The longest rule that matches decides (RFC 9309, 2.2.2). */
  const isAllowed = (path: string) =>
    rules.filter(({ pattern }) => pattern.test(path)).sort((a, b) => b.length - a.length)[0]?.verdict !==
    'Disallow'
  expect(robots).toContain(`Sitemap: ${base}/sitemap.xml`)
  const found = [...(await textAt('/sitemap.xml')).matchAll(/<loc>(.+)<\/loc><lastmod>(.+)<\/lastmod>/g)]
  const pages = found.map(([, address = '', at]) => [address.slice(base.length), at] as const)
  expect(pages.map(([path]) => path)).toEqual(
    expect.arrayContaining([
      '/',
      '/explore',
      '/versions',
      '/check',
      '/strategies/s',
      '/docs',
      '/docs/guides/webhooks',
    ]),
  )
  for (const [path, at] of pages) {
    expect([path, at, isAllowed(path)]).toEqual([path, '2024-06-01T00:15:00Z', true])
    const there = await served.request(base + path, AS_BROWSER)
    expect([path, there.status]).toEqual([path, path.startsWith('/docs') ? 200 : 307])
    const to = there.headers.get('location')
    if (to === null) continue
    const page = await textAt(to)
    expect(page).toContain(`<link rel="canonical" href="${base}${path}">`)
    for (const [, file = ''] of page.matchAll(
      /"((?:[^"]*\/)?(?:assets\/\w+\.(?:css|js|svg)|picture\.png))"/g,
    ))
      expect([file, isAllowed(new URL(file, base + to).pathname)]).toEqual([file, true])
    expect([to, isAllowed(to), isAllowed(`${to}?risk_pct=0.01`)]).toEqual([to, true, false])
  }
  expect(['/v1/export', `${VERSION}/export.daily.csv`].map(isAllowed)).toEqual([false, false])
  for (const path of ['/favicon.svg', '/favicon.ico'])
    expect((await served.request(path)).headers.get('content-type')).toBe('image/svg+xml')
})

test('a page links to the program and to what only the service answers, by the addresses that the operator states', async () => {
  const program_url = 'https://signals.example.org/program'
  const stated = handSnapshot([{ id: 's', returns: [0.01] }], {
    program_url,
    public_url: 'https://d.example',
  })
  const silent = handSnapshot([{ id: 's', returns: [0.01] }])
  const pageOf = async (snapshot: typeof stated) =>
    (await (await appOf(snapshot)).app.request(`/v1/snapshots/20240601T001500Z/versions.html`)).text()
  const [page, other] = [await pageOf(stated), await pageOf(silent)]
  for (const path of ['/docs', '/feed.atom', '/v1/dataset/versions']) {
    expect(page).toContain(`<a href="https://d.example${path}">`)
    expect(other).toContain(`<a data-service="${path}">`)
  }
  expect(page).toContain(`<a href="${program_url}">Program</a>`)
  expect(other).not.toContain('Program')
})

test('a page at a risk level is rendered with the figures of the API', async () => {
  const page = await browse(app, '/strategies/ash?risk_pct=0.013')
  const { data } = (await (await app.request('/v1/strategies/ash/stats?risk_pct=0.013')).json()) as {
    data: Record<string, number>
  }
  for (const figure of ['net_return_pct', 'cagr_pct', 'max_drawdown_pct', 'sharpe_daily_annualized'])
    expect(page).toContain(`<data value="${data[figure]}">`)
  expect(page).toContain('no replay at this level')
})

test('a page that an earlier program did not publish is rendered', async () => {
  const { app: served } = await appOf(handSnapshot([{ id: 's', name: 'Old', returns: [0.01, -0.02] }]))
  const page = await browse(served, '/strategies/s')
  expect(page).toContain('<h1 dir="auto">Old</h1>')
  const [, style] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? []
  const { location } = Object.fromEntries((await served.request('/strategies/s')).headers)
  expect((await served.request(new URL(style!, `http://localhost${location}`).pathname)).status).toBe(200)
})

test('a page shows no minus on a figure that rounds to nothing', async () => {
  const still = { id: 'still', returns: Array.from({ length: 400 }, (_, i) => (i === 0 ? -1e-5 : 0)) }
  const { app: served } = await appOf(handSnapshot([still]))
  const page = await browse(served, '/')
  expect(page).toContain('>0.0 %<')
  expect(page).not.toMatch(/>[-−]0[.0]*(.%)?</)
})

test('both feeds name each version with what it changed, newest first', async () => {
  const { app: served } = await openTiny()
  const feed = await (await served.request('/feed.atom')).text()
  expect(feed).toContain('<title>Version 2025-02-24T00:15:00Z, first version</title>')
  expect(feed).toContain('<summary>New strategies: ash, beech, elm, yew.</summary>')
  const inJson = await served.request('/feed.json')
  expect(inJson.headers.get('content-type')).toBe('application/feed+json; charset=utf-8')
  const url = `https://data.example.org${VERSION}/index.html`
  expect(await inJson.json()).toMatchObject({
    version: 'https://jsonfeed.org/version/1.1',
    feed_url: 'https://data.example.org/feed.json',
    items: [
      {
        ...{ id: url, url, title: 'Version 2025-02-24T00:15:00Z, first version' },
        ...{ content_text: 'New strategies: ash, beech, elm, yew.', date_published: '2025-02-24T00:15:00Z' },
      },
    ],
  })
})
