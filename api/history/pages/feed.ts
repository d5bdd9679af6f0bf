// `/feed.atom`: versions, new strategies and restatements, for readers of feeds (RFC 4287).
import { effectiveInstant, enteredText } from '#core/dataset/entered.ts'
import type { Ancestor } from '#core/dataset/lineage.ts'
import type { DatasetRecord } from '#core/dataset/snapshot.ts'
import { escapeText } from '#pages/charts/svg.ts'
import { fileKey } from '#pages/page-routes.ts'
import { changesOf } from '#pages/versions.ts'
import { assertServed, createTexts, type Handler } from '../exchange.ts'

/** The newest; a reader that stays away longer finds the others in the list of versions. */
const MOST_ENTRIES = 50

export const createFeedHandler = (): Handler =>
  createTexts(
    (c, parts) => atomFeed(assertServed(c, parts).snapshot.dataset, parts.settings.publicBaseUrl),
    'application/atom+xml; charset=utf-8',
  )

/** The feed of a dataset; `base` is the address of the service, without a slash at the end. */
const atomFeed = ({ name, version, entered, lineage }: DatasetRecord, base: string): string =>
  `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeText(`${base}/feed.atom`)}</id>
<title>${escapeText(name)}</title>
<subtitle>Versions, new strategies and restatements</subtitle>
<author><name>${escapeText(name)}</name></author>
<updated>${effectiveInstant({ version, entered })}</updated>
<link rel="self" type="application/atom+xml" href="${escapeText(`${base}/feed.atom`)}"/>
<link rel="alternate" type="text/html" href="${escapeText(`${base}/versions`)}"/>
${lineage
  .slice(-MOST_ENTRIES)
  .toReversed()
  .map(ancestor => entry(ancestor, base))
  .join('')}</feed>
`

function entry(ancestor: Ancestor, base: string): string {
  const address = escapeText(`${base}/${fileKey(ancestor.version, 'index.html')}`)
  return `<entry>
<id>${address}</id>
<title>${escapeText(titleOf(ancestor))}</title>
<updated>${effectiveInstant(ancestor)}</updated>
<link rel="alternate" type="text/html" href="${address}"/>
<summary>${escapeText(changesOf(ancestor).join(' '))}</summary>
</entry>
`
}

function titleOf({ version, entered, previous, added, restated, removed }: Ancestor): string {
  const what = [
    ...(entered === null ? [] : [enteredText(entered)]),
    ...(previous === null ? ['first version'] : []),
    ...(restated.length + removed.length > 0 ? ['published history restated'] : []),
    ...(previous !== null && added.length > 0 ? [`${added.length} new`] : []),
  ]
  return [`Version ${version}`, ...what].join(', ')
}
