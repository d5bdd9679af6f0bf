// What a build alters of what is published, and what its operator declares of that.
import { toIsoInstant } from '#core/calendar.ts'
import {
  type Change,
  type Changes,
  DECLARED,
  type Declaration,
  type RestatedTrade,
  type StrategyChanges,
} from '#core/contract/payloads/changes.ts'
import {
  baseRiskChange,
  hasOtherFiles,
  hasOtherValues,
  isExplained,
  isRestated,
  versionChange,
} from '#core/dataset/restated.ts'

/** What the operator of a build declares: ids of strategies, or versions, and one public reason. */
export type Declarations = Readonly<Record<Declaration['what'], Pick<ReadonlySet<string>, 'has'>>> & {
  readonly reason: string
}

/** For versions that nobody else sees. */
export function declareAll(reason: string): Declarations {
  const all = { has: () => true }
  return { restate: all, remove: all, same_rules: all, after_lost: all, reason }
}

/** The declarations that changes need; filled gaps need none. Throws an error with everything that was not declared. */
export function declarationsFor(changes: Changes, declared: Declarations, isRolledBack: boolean) {
  const { removed, strategies, filled_gaps = [], not_compared = [] } = changes
  const needed = {
    restate: strategies.filter(each => isRestated(each) && !isExplained(each, filled_gaps)),
    remove: removed.map(id => ({ id })),
    same_rules: strategies.filter(hasOtherFiles),
    after_lost: not_compared.map(id => ({ id })),
  }
  const all = DECLARED.flatMap(what =>
    needed[what].map(({ id }) => ({ what, of: id, reason: declared.reason })),
  )
  const missing = all.filter(({ what, of }) => !declared[what].has(of))
  if (missing.length > 0) throw restatement(changes, missing, isRolledBack)
  return all
}

/** Altered values that are listed for each strategy: enough to see the pattern. */
const MOST_SHOWN = 5

/**
 * The error of a build that would alter published values, remove a strategy or change rules, without the declaration that it
 * needs. If `isRolledBack`, the version that the changes are against was published and then rolled back.
 */
function restatement(changes: Changes, missing: readonly Declaration[], isRolledBack: boolean): Error {
  const since = isRolledBack ? ' before it was rolled back' : ''
  const named = (what: Declaration['what']) => missing.filter(each => each.what === what).map(({ of }) => of)
  const restated = new Set(named('restate'))
  const ways = DECLARED.filter(what => named(what).length > 0).map(what => wayOf(WAYS[what], named(what)))
  return new Error(
    [
      `the version ${changes.version} would alter history that ${changes.previous} published${since}:`,
      ...named('remove').map(id => `  ${id}: the strategy is gone`),
      ...changes.strategies.filter(({ id }) => restated.has(id)).flatMap(linesOf),
      ...named('same_rules').map(
        id => `  ${id}: the files of its module differ, and the version of the module is the same`,
      ),
      ['nothing was published. Correct the book', ...ways].join('. '),
    ].join('\n'),
  )
}

const WAYS = {
  restate: 'Or, if the old values were wrong, publish the new ones with --restate',
  remove: 'A strategy that is over stays in the catalogue with `ended`; or remove it with --remove',
  same_rules:
    'If the rules of a module changed, raise its version; if they are the same, publish it with --same-rules',
  after_lost: 'Follow what is lost with --after-lost',
} as const satisfies Record<Declaration['what'], string>

/** Longer lists are cut: the lines above name everything. */
const MOST_NAMED = 20

const wayOf = (way: string, ids: readonly string[]): string =>
  `${way} ${ids.slice(0, MOST_NAMED).join(',')}${ids.length > MOST_NAMED ? ',...' : ''} --reason TEXT, which every user sees`

/** A published value that differs as text: `none` if there was none. */
export const toText = ({ old, new: now }: Pick<Change, 'old' | 'new'>): string =>
  `${old ?? 'none'} -> ${now ?? 'none'}`

function linesOf(strategy: StrategyChanges): string[] {
  const { id, daily, weekly, trades } = strategy
  const risk = baseRiskChange(strategy)
  const version = versionChange(strategy)
  const days = daily.restated.map(each => `return of ${each.t}: ${toText(each)}`)
  const weeks = weekly.restated.map(each => `week to ${each.t}: ${toText(each)}`)
  return [
    ...(risk === undefined
      ? []
      : [`${risk.field}: ${toText(risk)}, which changes every figure at another risk level`]),
    ...(version === undefined ? [] : [versionLine(version, hasOtherValues(strategy))]),
    ...shortened('days', days, daily.restated_count),
    ...(days.length > 0 ? [] : shortened('weeks', weeks, weekly.restated_count)),
    ...shortened('trades', trades.restated.flatMap(tradeLines), trades.restated_count),
  ].map(line => `  ${id}: ${line}`)
}

const versionLine = (change: Change, hasOther: boolean): string =>
  `${change.field}: ${toText(change)}, which is a new history${hasOther ? '' : ' even if no published value differs'}: ` +
  'keep the old module and publish the new one under another id, or announce the restatement' +
  (hasOther ? '' : `; if its rules are the same, restore the version ${change.old ?? 'none'}`)

const tradeLines = ({ side, entry_time, changes }: RestatedTrade): string[] =>
  changes.map(change => {
    const name = `${side} of ${toIsoInstant(entry_time)}`
    if (change.field !== 'trade') return `${name}: ${change.field}: ${toText(change)}`
    return `${name}: ${change.old === null ? 'was not there before' : 'is gone'}`
  })

/** The first of the texts, and how many things there are if that is not all. */
export const shortened = (what: string, texts: readonly string[], count: number): string[] => [
  ...texts.slice(0, MOST_SHOWN),
  ...(count > MOST_SHOWN ? [`... ${count} ${what} in all`] : []),
]
