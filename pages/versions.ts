// What was published when: the ancestors of a version, and what each changed.
import { html } from 'hono/html'
import { toCompactInstant } from '#core/calendar.ts'
import { enteredText } from '#core/dataset/entered.ts'
import type { Ancestor } from '#core/dataset/lineage.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { type Integrity, layout, type Markup, serviceLink } from './layout.ts'
import { describeRestatement } from './sheet/record.ts'

/** The versions up to this one, newest first. */
export const versionsPage = ({ dataset }: Snapshot, integrity: Integrity): string =>
  layout({
    title: 'Versions',
    about: `What ${dataset.name} published when, what each version added, and every restatement.`,
    dataset,
    root: '',
    file: 'versions.html',
    integrity,
    script: 'table.js',
    body: html`<h1>Versions</h1>
<p>A version never changes. Each one says what it did to the one before it: <a href="changes.json">changes.json</a> of this one lists
every value. The list ends with the version of this page; ${serviceLink(dataset, '/v1/dataset/versions', '/v1/dataset/versions')} has later ones, and
when each was served; a name that is more than 36 hours older than its entry has the date of the entry beside it; ${serviceLink(dataset, '/feed.atom', 'the feed')} announces them. A version that the operator has pruned answers 410.</p>
<table class="versions"><thead><tr><th scope="col">Version</th><th scope="col">What it changed</th></tr></thead>
<tbody>${dataset.lineage.toReversed().map(row)}</tbody></table>`,
  })

const row = (ancestor: Ancestor): Markup => {
  const [day, time] = ancestor.version.split('T')
  return html`
<tr><th scope="row"><a href="../${toCompactInstant(ancestor.version)}/index.html"><time datetime="${ancestor.version}">${day}T<wbr>${time}</time></a>${
    ancestor.entered === null
      ? ''
      : html`<br><span class="note"><time datetime="${ancestor.entered}">${enteredText(ancestor.entered)}</time></span>`
  }</th><td><ul>${changesOf(ancestor).map(change => html`<li>${change}</li>`)}</ul></td></tr>`
}

const LISTED = 12

const listed = (names: readonly string[]): string =>
  `${names.slice(0, LISTED).join(', ')}${names.length > LISTED ? ` and ${names.length - LISTED} more` : ''}`

/** What a version changed, a sentence each. */
export function changesOf({
  added,
  removed,
  restated,
  definitions,
  not_compared,
}: Ancestor): readonly string[] {
  const sentences = [
    ...(added.length === 0 ? [] : [`New strategies: ${listed(added)}.`]),
    ...(removed.length === 0 ? [] : [`Removed: ${listed(removed)}.`]),
    ...restated.map(each => `Restated: ${each.id}, ${describeRestatement(each)}.`),
    ...(definitions.length === 0 ? [] : [`New definitions: ${definitions.join(', ')}.`]),
    ...not_compared.map(version => `Not compared with ${version}, which could not be read.`),
  ]
  return sentences.length === 0 ? ['New days only.'] : sentences
}
