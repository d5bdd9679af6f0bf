// `/feed.atom` and `/feed.json`: versions, new strategies and restatements, for readers of feeds (RFC 4287; JSON Feed 1.1,
// https://www.jsonfeed.org/version/1.1).
import { effectiveInstant, enteredText } from '#core/dataset/entered.ts'
import type { Ancestor } from '#core/dataset/lineage.ts'
import type { DatasetRecord, Snapshot } from '#core/dataset/snapshot.ts'
import { escapeText } from '#pages/charts/svg.ts'
import { fileKey } from '#pages/page-routes.ts'
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
