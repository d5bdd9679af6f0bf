// `/docs` and the guides in a real browser: under their policy, at every width, in either scheme, and accessible.
import { beforeAll, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { startServer } from '#api/http/http-server.ts'
import { GUIDES } from '#pages/guides/guides.ts'
import { expectReadable, openPage, type Size } from '../support/browser/shared-browser.ts'
import { atEnd } from '../support/ends.ts'
import { openHistoryApp, SETTINGS } from '../support/history/history-app.ts'

const SIZES: readonly Size[] = [
  [390, 'light'],
  [768, 'dark'],
  [1440, 'light'],
]

/** It has a page with status 404. */
const MISSING = '/strategies/nobody'

const PATHS = ['/docs', ...GUIDES.map(({ name }) => `/docs/guides/${name}`), MISSING]

let app: Awaited<ReturnType<typeof openHistoryApp>>['app']
let url: string

beforeAll(async () => {
  const signalsBaseUrl = 'https://signals.example.org'
  const opened = await openHistoryApp(inject('tinyStore'), { settings: { ...SETTINGS, signalsBaseUrl } })
  app = opened.app
  const server = await startServer(() => app.fetch, '127.0.0.1', 0)
  atEnd(() => server.close())
  url = server.url
})

test.each(PATHS)(
  'the page %s is accessible and never wider than the window, with every snippet open',
  async path => {
    const { page, complaints } = await openPage(url + path)
    await page.evaluate(`const all = [...document.querySelectorAll('details')]
      for (const each of all) each.removeAttribute('name')
      for (const each of all) each.setAttribute('open', '')`)
    await expectReadable(page, `docs${path}`, SIZES)
    expect(complaints.filter(each => path !== MISSING || !each.includes('404'))).toEqual([])
  },
)

test('every link of the index, of the guides and of the page that is missing leads to an answer', async () => {
  const answers = new Map<string, Promise<number>>()
  const followed = async (address: string): Promise<number> => {
    const { status, headers } = await app.request(address)
    const moved = headers.get('location')
    return moved === null ? status : followed(moved)
  }
  const statusOf = (address: string): Promise<number> => {
    const status = answers.get(address) ?? followed(address)
    answers.set(address, status)
    return status
  }
  for (const path of PATHS) {
    const markup = await (await app.request(path, { headers: { accept: 'text/html' } })).text()
    const links = [...markup.matchAll(/ href="([^"#]+)/g)].map(
      ([, href = '']) => new URL(href.replaceAll('&amp;', '&'), url + path),
    )
    const own = new Set(links.filter(link => link.origin === url).map(link => link.pathname + link.search))
    expect([path, own.size > 4]).toEqual([path, true])
    for (const link of own) expect([path, link, await statusOf(link)]).toEqual([path, link, 200])
  }
})

test('the index of the documentation lists every endpoint', async () => {
  const markup = await (await app.request('/docs')).text()
  const paths = [...markup.matchAll(/<dt><a [^>]*>(?:<code>)?([^<]+)</g)].map(([, path = '']) => path)
  expect(paths.toSorted()).toEqual(ROUTES.map(route => route.path).toSorted())
})

test('one snippet of a group of a guide is open at a time, without a script', async () => {
  const { page } = await openPage(`${url}/docs/guides/first-chart`)
  await page.locator('summary', { hasText: 'R' }).last().click()
  expect(await page.locator('details[open]').count()).toBe(1)
  expect(await page.locator('script').count()).toBe(0)
})
