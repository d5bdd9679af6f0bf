// What a browser gets if there is no such page: what it asked for, what it may have meant, and the way on.
import { html } from 'hono/html'
import { nearestTo } from '#core/contract/near-miss.ts'
import { type Snapshot, strategyOf } from '#core/dataset/snapshot.ts'
import { shorten } from './charts/svg.ts'
import { servicePage } from './guides/guides.ts'

/** `why` is a sentence if there was such a page once. `snapshot` is the version that is served now. */
export function missingPage(snapshot: Snapshot, path: string, why: string | null): string {
  const title = why === null ? 'Page not found' : 'Page removed'
  const near = nearestPage(snapshot, path)
  return servicePage(
    title,
    `${title} in ${snapshot.dataset.name}.`,
    html`<h1>${title}</h1>
<p class="lead">${why ?? html`There is no page at <code>${shorten(path, 80)}</code>.`}</p>
${near === null ? '' : html`<p>Did you mean <a href="${near.path}"><bdi>${near.name}</bdi></a>?</p>`}
<p><a href="/">The book</a> lists all strategies, and <a href="/docs">the documentation</a> all addresses of the API.</p>`,
    snapshot.dataset,
  )
}

/** The strategy, or else the page, whose name is nearly the first one in the path. */
function nearestPage(snapshot: Snapshot, path: string) {
  const [, word = ''] =
    /^\/(?:v1\/snapshots\/[^/]*\/)?(?:strategies\/)?([^/]*?)(?:\.html)?(?:\/|$)/i.exec(path) ?? []
  const text = word.slice(0, 64).toLowerCase() // longer names resemble nothing
  const ids = snapshot.strategies.map(({ id }) => id)
  const id = nearestTo(text, ids)
  if (id !== null) return { path: `/strategies/${id}`, name: strategyOf(snapshot, id)!.name }
  const page = nearestTo(text, ['explore', 'versions', 'check', 'docs'])
  return page === null ? null : { path: `/${page}`, name: `/${page}` }
}
