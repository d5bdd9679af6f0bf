// What search engines ask for first: `/robots.txt` (RFC 9309) and `/sitemap.xml` (https://www.sitemaps.org).
import { effectiveInstant } from '#core/dataset/entered.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { escapeText } from '#pages/charts/svg.ts'
import { DOCS } from '#pages/guides/documents.ts'
import { publishedPages } from '#pages/page-routes.ts'

/**
 * Pages, what they load and their pictures may be read where the addresses in the sitemap lead: below a version, whose pages name
 * these addresses as canonical. The data may not, nor anything with a query: an answer at each risk level is computed.
 */
export const robotsText = (base: string): string => `User-agent: *
Allow: /v1/snapshots/*.html$
Allow: /v1/snapshots/*.png$
Allow: /v1/snapshots/*/assets/
Disallow: /v1/
Disallow: /*?

Sitemap: ${base}/sitemap.xml
`

/** Every page at the address that no new version changes. Guides are written with the version that is served, too. */
export function sitemap({ dataset, strategies }: Snapshot, base: string): string {
  const pages = publishedPages(strategies.map(({ id }) => id)).map(({ route, sid }) =>
    route.path.replace('{sid}', sid),
  )
  const docs = ['/docs', ...DOCS.map(({ name }) => `/docs/guides/${name}`), '/docs/reference']
  const updated = effectiveInstant(dataset)
  const entry = (path: string) =>
    `<url><loc>${escapeText(base + path)}</loc><lastmod>${updated}</lastmod></url>\n`
  return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${[...pages, ...docs].map(entry).join('')}</urlset>
`
}
