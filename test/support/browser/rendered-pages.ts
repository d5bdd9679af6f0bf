// The pages of a snapshot for a browser, without a store: rendered when they are asked for, and no other file but their assets.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { ASSETS, INTEGRITY } from '#pages/assets.ts'
import { fileKey, PAGE_HEADERS, PAGE_TYPE, pageFile, publishedPages } from '#pages/page-routes.ts'
import { complaintsOf, PATIENCE_MS } from './chromium.ts'

const ORIGIN = 'http://pages.test'

export type RenderedPage = {
  /** Its `shifts` are the scores of the layout shifts until now. */
  readonly page: Page
  /** What the policy forbids, what fails, and what would leave the origin. */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

/** The pages of a snapshot by their files, at base risk. */
export const pagesOf = (snapshot: Snapshot): ReadonlyMap<string, () => string> =>
  new Map(
    publishedPages(snapshot.strategies.map(({ id }) => id)).map(({ route, sid }) => [
      pageFile(route, sid),
      () => route.render(snapshot, { sid, risk_pct: null }, INTEGRITY),
    ]),
  )

/** Opens a page of a snapshot by its file. The service answers nothing else than that this version is the newest. */
export async function openRendered(
  browser: Browser,
  snapshot: Snapshot,
  file: string,
  options: BrowserContextOptions = {},
): Promise<RenderedPage> {
  const { version } = snapshot.dataset
  const pages = pagesOf(snapshot)
  const context = await browser.newContext(options)
  context.setDefaultTimeout(PATIENCE_MS)
  const addressOf = (name: string) => `${ORIGIN}/${fileKey(version, name)}`
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await context.route('**/*', route => {
    const { origin, pathname } = new URL(route.request().url())
    const asset = ASSETS.find(each => pathname === new URL(addressOf(each.file)).pathname)
    const render = [...pages].find(([name]) => pathname === new URL(addressOf(name)).pathname)?.[1]
    if (origin === ORIGIN && asset !== undefined)
      return route.fulfill({ contentType: asset.mediaType, body: Buffer.from(asset.bytes) })
    if (origin === ORIGIN && render !== undefined)
      return route.fulfill({ contentType: PAGE_TYPE, headers: PAGE_HEADERS, body: render() })
    if (origin === ORIGIN && pathname === '/version')
      return route.fulfill({ json: { data: { dataset_version: version } } })
    complaints.push(`asks for ${route.request().url()}`)
    return route.abort()
  })
  await page.addInitScript(`globalThis.shifts = []
    new PerformanceObserver(list => shifts.push(...list.getEntries().map(entry => entry.value)))
      .observe({ type: 'layout-shift', buffered: true })`)
  await page.goto(addressOf(file))
  return { page, complaints, close: () => context.close() }
}
