// What programs read that follow or index the site: `/feed.atom` (RFC 4287), `/feed.json` (JSON Feed 1.1,
// https://www.jsonfeed.org/version/1.1), `/robots.txt` (RFC 9309) and `/sitemap.xml` (https://www.sitemaps.org).
import { effectiveInstant, enteredText } from '#core/dataset/entered.ts'
import type { Ancestor } from '#core/dataset/lineage.ts'
import type { DatasetRecord, Snapshot } from '#core/dataset/snapshot.ts'
import { escapeText } from '#pages/charts/svg.ts'
import { DOCS } from '#pages/guides/documents.ts'
import { fileKey, publishedPages } from '#pages/page-routes.ts'
import { changesOf } from '#pages/versions.ts'

/** The newest; a reader that stays away longer finds the others in the list of versions. */
const MOST_ENTRIES = 50

const SUBTITLE = 'Versions, new strategies and restatements'

/** `base` is the address of the service, without a slash at the end. */
export const atomFeed = ({ dataset }: Snapshot, base: string): string =>
  `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeText(`${base}/feed.atom`)}</id>
<title>${escapeText(dataset.name)}</title>
<subtitle>${SUBTITLE}</subtitle>
<author><name>${escapeText(dataset.name)}</name></author>
<updated>${effectiveInstant(dataset)}</updated>
<link rel="self" type="application/atom+xml" href="${escapeText(`${base}/feed.atom`)}"/>
<link rel="alternate" type="text/html" href="${escapeText(`${base}/versions`)}"/>
${entriesOf(dataset, base).map(atomEntry).join('')}</feed>
`

const atomEntry = ({ address, title, updated, text }: Entry): string => `<entry>
<id>${escapeText(address)}</id>
<title>${escapeText(title)}</title>
<updated>${updated}</updated>
<link rel="alternate" type="text/html" href="${escapeText(address)}"/>
<summary>${escapeText(text)}</summary>
</entry>
`

export const jsonFeed = ({ dataset }: Snapshot, base: string): string =>
  JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: dataset.name,
    description: SUBTITLE,
    home_page_url: `${base}/versions`,
    feed_url: `${base}/feed.json`,
    icon: `${base}/favicon.svg`,
    authors: [{ name: dataset.name }],
    language: 'en',
    items: entriesOf(dataset, base).map(({ address, title, updated, text }) => ({
      id: address,
      url: address,
      title,
      content_text: text,
      date_published: updated,
    })),
  })

type Entry = Readonly<Record<'address' | 'title' | 'updated' | 'text', string>>

/** Newest first. */
const entriesOf = ({ lineage }: DatasetRecord, base: string): Entry[] =>
  lineage
    .slice(-MOST_ENTRIES)
    .toReversed()
    .map(ancestor => ({
      address: `${base}/${fileKey(ancestor.version, 'index.html')}`,
      title: titleOf(ancestor),
      updated: effectiveInstant(ancestor),
      text: changesOf(ancestor).join(' '),
    }))

function titleOf({ version, entered, previous, added, restated, removed }: Ancestor): string {
  const what = [
    ...(entered === null ? [] : [enteredText(entered)]),
    ...(previous === null ? ['first version'] : []),
    ...(restated.length + removed.length > 0 ? ['published history restated'] : []),
    ...(previous !== null && added.length > 0 ? [`${added.length} new`] : []),
  ]
  return [`Version ${version}`, ...what].join(', ')
}

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
