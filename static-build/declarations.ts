import { type Changes, DECLARED, type Declaration } from '#core/contract/payloads/changes.ts'
import { isExplained } from '#core/dataset/filled-gaps.ts'
import { hasOtherFiles, isRestated } from '#core/dataset/restated.ts'
import { RestatementError } from './restatement.ts'

/** What the operator of a build declares: ids of strategies, or versions, and one public reason. */
export type Declarations = Readonly<Record<Declaration['what'], Pick<ReadonlySet<string>, 'has'>>> & {
  readonly reason: string
}

const everything = (has: () => boolean, reason: string): Declarations => ({
  ...{ restate: { has }, remove: { has }, same_rules: { has }, after_lost: { has } },
  reason,
})

export const NOTHING_DECLARED = everything(() => false, '')

/** For versions that nobody else sees. */
export const declareAll = (reason: string): Declarations => everything(() => true, reason)

/**
 * The declarations that changes need. Throws a RestatementError with everything that was not declared; what filled gaps
 * explain needs none.
 */
export function declarationsFor(
  changes: Changes,
  declared: Declarations,
  isRolledBack: boolean,
): readonly Declaration[] {
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
  if (missing.length > 0) throw new RestatementError(changes, missing, isRolledBack)
  return all
}
