// The table of pages: which file of a version each is, and what it is rendered from.
import { versionFolder } from '#core/contract/artifacts.ts'
import { type Snapshot, strategyOf } from '#core/dataset/snapshot.ts'
import { bookPage } from './book.ts'
import { checkPage } from './check.ts'
import { explorePage } from './explore/page.ts'
import { type Integrity, layout, PAGE_POLICY, type Page } from './layout.ts'
import { sheetPage } from './sheet/sheet.ts'
import { versionsPage } from './versions.ts'

export type PageId = 'book' | 'sheet' | 'explore' | 'versions' | 'check'

/** Where a page leads: a strategy, or '' for a page of the book, and a risk level, null for base risk. */
export type PageParams = { readonly sid: string; readonly risk_pct: number | null }

export type PageRoute = ReturnType<typeof route>

/**
 * @param path the address that leads to the page of the version that is served
 * @param file in the folder of the version; `{sid}` stands for the strategy
 */
const route = (
  id: PageId,
  path: string,
  file: string,
  pageOf: (snapshot: Snapshot, params: PageParams) => Page,
) => ({
  id,
  path,
  file,
  /** Of a strategy, and rendered at the risk level of the query, too. */
  isAtLevels: file.includes('{sid}'),
  render: (snapshot: Snapshot, params: PageParams, integrity: Integrity): string =>
    layout({
      ...pageOf(snapshot, params),
      dataset: snapshot.dataset,
      root: file.includes('/') ? '../../' : '',
      file: file.replace('{sid}', params.sid),
      path: path.replace('{sid}', params.sid),
      picture: pictureFile(params.sid),
      integrity,
    }),
})

export const PAGE_ROUTES: readonly PageRoute[] = [
  route('book', '/', 'index.html', bookPage),
  route('explore', '/explore', 'explore.html', explorePage),
  route('versions', '/versions', 'versions.html', versionsPage),
  route('check', '/check', 'check.html', checkPage),
  route('sheet', '/strategies/{sid}', 'strategies/{sid}/sheet.html', (snapshot, { sid, risk_pct }) =>
    sheetPage(snapshot, strategyOf(snapshot, sid)!, risk_pct),
  ),
]

export const PAGE_TYPE = 'text/html; charset=utf-8'

export const PAGE_HEADERS = { 'content-security-policy': PAGE_POLICY } as const

export const pageFile = ({ file }: PageRoute, sid: string): string => file.replace('{sid}', sid)

/** Every page of a version: a page of the book once, a page of a strategy for each. */
export const publishedPages = (
  strategies: readonly string[],
): { readonly route: PageRoute; readonly sid: string }[] =>
  PAGE_ROUTES.flatMap(route =>
    route.isAtLevels ? strategies.map(sid => ({ route, sid })) : [{ route, sid: '' }],
  )

/** The file of the picture of a strategy, or of the whole book if it is ''. */
export const pictureFile = (sid: string): string => `${sid === '' ? '' : `strategies/${sid}/`}picture.png`

/** The key of a file of a version that is no answer of the API. */
export const fileKey = (version: string, file: string): string => `${versionFolder(version)}/${file}`

/** Its address, which leads to the file of the version that is served. */
export const fileUrl = (file: string): string => `/v1/${file}`
