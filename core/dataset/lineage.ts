import { type Change, type Changes, type Declaration, MOST_LISTED } from '#core/contract/payloads/changes.ts'
import { effectiveInstant } from './entered.ts'
import { baseRiskChange, isRestated, versionChange } from './restated.ts'

/** What a version changed of what was published of a strategy before it. */
export type Restatement = {
  readonly id: string
  /** Published values that differ, came in between, or are gone. */
  readonly daily: number
  readonly weekly: number
  readonly trades: number
  /** Whether its base risk, or the version of its module, is another. */
  readonly base_risk: boolean
  readonly module_version: boolean
}

/** A version, and what it did to the one before it. */
export type Ancestor = {
  readonly version: string
  /** When it was entered, if its name is more than 36 hours older; null if the name is the truth, or not known better. */
  readonly entered: string | null
  /** Null for the first. */
  readonly previous: string | null
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly restated: readonly Restatement[]
  /** Figures that it defines otherwise. */
  readonly definitions: readonly string[]
  /** Versions that could no longer be read, so that what changed is not known. */
  readonly not_compared: readonly string[]
  /** Sentences on the facts that differ; null in a version that did not record them. */
  readonly changed: readonly string[] | null
  readonly declared: readonly Declaration[]
  /** Strategies that it added more than a week to, which may be hindsight; absent without any. */
  readonly at_once?: readonly { readonly id: string; readonly from: string; readonly n: number }[]
}

const DAYS_AT_ONCE = 7

/** What a version did, in short: `changes.json` of the version lists every value. */
export const toAncestor = (changes: Changes, entered: string | null): Ancestor => ({
  version: changes.version,
  entered,
  previous: changes.previous,
  added: changes.added,
  removed: changes.removed,
  restated: restatedIn(changes).map(strategy => ({
    id: strategy.id,
    daily: strategy.daily.restated_count,
    weekly: strategy.weekly.restated_count,
    trades: strategy.trades.restated_count,
    base_risk: baseRiskChange(strategy) !== undefined,
    module_version: versionChange(strategy) !== undefined,
  })),
  definitions: (changes.definitions ?? []).map(({ figure }) => figure),
  not_compared: changes.not_compared ?? [],
  changed: changes.dataset === undefined ? null : changeSentences(changes),
  declared: changes.declared ?? [],
  ...addedAtOnce(changes),
})

function addedAtOnce({ strategies }: Changes): Pick<Ancestor, 'at_once'> {
  const at_once = strategies.flatMap(({ id, daily: { appended } }) =>
    appended && appended.n > DAYS_AT_ONCE ? [{ id, ...appended }] : [],
  )
  return at_once.length === 0 ? {} : { at_once }
}

/** Of what was published before, also where it was rolled back: users saw it. */
export const restatedIn = ({ strategies, rolled_back }: Changes): Changes['strategies'] =>
  [...strategies, ...(rolled_back?.strategies ?? [])].filter(isRestated)

/** The same change of several strategies is one sentence. */
function changeSentences({ dataset = [], strategies }: Changes): string[] {
  const all = [{ id: null, catalogue: dataset }, ...strategies].flatMap(({ id, catalogue }) =>
    catalogue.map(change => ({ id, change })),
  )
  const groups = Map.groupBy(all, ({ change: { field, old, new: now } }) => JSON.stringify([field, old, now]))
  const inOrder = [...groups.values()].sort((a, b) => rankOf(a[0]!.change) - rankOf(b[0]!.change))
  const sentences = inOrder.map(group => {
    const { field, old, new: now } = group[0]!.change
    const ids = group.flatMap(({ id }) => id ?? [])
    return `Changed: ${field}${ids.length === 0 ? '' : ` of ${listed(ids)}`}, ${inShort(old, now)} -> ${inShort(now, old)}.`
  })
  const more = sentences.length - MOST_LISTED
  return more > 0 ? [...sentences.slice(0, MOST_LISTED), `And ${more} other changes.`] : sentences
}

const TEXTS = ['name', 'blurb', 'disclaimer', 'methodology_url', 'engine', 'data_source']

/** Texts come last: a hundred of them must not hide a number. */
const rankOf = ({ field }: Change): number => (TEXTS.includes(field) ? 1 : 0)

const MOST_CHARS = 200

/** A long text from shortly before the first place where it differs from another. */
function inShort(value: Change['old'], other: Change['old']): string {
  const [text, than] = [String(value ?? 'none'), String(other ?? 'none')]
  if (text.length <= MOST_CHARS) return text
  const same = [...text].findIndex((letter, i) => letter !== than[i])
  const from = Math.max(0, same - MOST_CHARS / 4)
  const end = from + MOST_CHARS
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${end < text.length ? '…' : ''}`
}

const MOST_NAMED = 12

export const listed = (names: readonly string[], most = MOST_NAMED): string =>
  `${names.slice(0, most).join(', ')}${names.length > most ? ` and ${names.length - most} more` : ''}`

/** A sentence with the reason of what was declared; empty if nothing was. */
export function reasonOf({ declared }: Pick<Ancestor, 'declared'>, what: Declaration['what'], id: string) {
  const found = declared.find(each => each.what === what && each.of === id)
  return found === undefined ? '' : ` Reason: ${found.reason}`
}

export const declarationsOf = (
  { lineage }: { readonly lineage: readonly Ancestor[] },
  what: Declaration['what'],
  id: string,
) =>
  lineage.flatMap(ancestor =>
    ancestor.declared
      .filter(each => each.what === what && each.of === id)
      .map(({ reason }) => ({ at: effectiveInstant(ancestor), reason })),
  )
