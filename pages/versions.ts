// What was published when: the ancestors of a version, and what each changed.
import { html } from 'hono/html'
import { toCompactInstant } from '#core/calendar.ts'
import type { Declaration } from '#core/contract/payloads/changes.ts'
import { type Ancestor, listed, reasonOf } from '#core/dataset/lineage.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { counted, dateText } from './format.ts'
import { type Markup, type Page, serviceLink } from './layout.ts'
import { describeRestatement } from './sheet/record.ts'

export const versionsPage = ({ dataset }: Snapshot): Page => ({
  title: 'Versions',
  about: `What ${dataset.name} published when, what each version added, and every restatement.`,
  script: 'table.js',
  body: html`<h1>Versions</h1>
<p>A version never changes. Each one says what it did to the one before it: <a href="changes.json">changes.json</a> of this one lists
every value. The list ends with the version of this page; ${serviceLink(dataset, '/v1/dataset/versions', '/v1/dataset/versions')} has later ones, and
when each was served; a name that is more than 36 hours older than its entry has the date of the entry beside it; ${serviceLink(dataset, '/feed.atom', 'the feed')} announces them, and so does ${serviceLink(dataset, '/feed.json', 'its JSON')}. A version that the operator has pruned answers 410.</p>
<table class="versions"><thead><tr><th scope="col">Version</th><th scope="col">What it changed</th></tr></thead>
<tbody>${dataset.lineage.toReversed().map(row)}</tbody></table>`,
})

const row = (ancestor: Ancestor): Markup => {
  const [day, time] = ancestor.version.split('T')
  return html`
<tr><th scope="row"><a href="../${toCompactInstant(ancestor.version)}/index.html"><time datetime="${ancestor.version}">${day}T<wbr>${time}</time></a>${
    ancestor.entered === null
      ? ''
      : html`<br><span class="note">entered on ${dateText(ancestor.entered)}</span>`
  }</th><td><ul>${changesOf(ancestor).map(change => html`<li>${change}</li>`)}</ul></td></tr>`
}

export function changesOf(ancestor: Ancestor): readonly string[] {
  const { added, restated, definitions, not_compared, changed, at_once = [] } = ancestor
  const gone = new Set([...ancestor.removed, ...idsOf(ancestor, 'remove')])
  const sentences = [
    ...(added.length === 0 ? [] : [`New strategies: ${listed(added)}.`]),
    ...[...gone].map(id => `Removed: ${id}.${reasonOf(ancestor, 'remove', id)}`),
    ...restated.map(
      each => `Restated: ${each.id}, ${describeRestatement(each)}.${reasonOf(ancestor, 'restate', each.id)}`,
    ),
    ...idsOf(ancestor, 'same_rules').map(
      id =>
        `Rules declared the same, other files of the module: ${id}.${reasonOf(ancestor, 'same_rules', id)}`,
    ),
    ...[...Map.groupBy(at_once, ({ n, from }) => `${counted(n, 'day')} from ${from} on`)].map(
      ([days, of]) => `Published at once: ${days} of ${listed(of.map(({ id }) => id))}.`,
    ),
    ...(changed ?? []),
    ...(definitions.length === 0 ? [] : [`New definitions: ${definitions.join(', ')}.`]),
    ...not_compared.map(
      version =>
        `Not compared with ${version}, which could not be read.${reasonOf(ancestor, 'after_lost', version)}`,
    ),
  ]
  if (sentences.length > 0) return sentences
  return [
    changed === null ? 'No published value restated; other changes were not recorded.' : 'New days only.',
  ]
}

const idsOf = ({ declared }: Ancestor, what: Declaration['what']): string[] =>
  declared.filter(each => each.what === what).map(({ of }) => of)
