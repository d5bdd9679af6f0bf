import type { SoundParts } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import type { Examine } from '../book/read-book.ts'
import { lateAcceptances, refusals, reportData, unusedAcceptances } from '../report/data-report.ts'
import { isOfRecord } from '../report/finding.ts'
import { programFaults } from './compute-program.ts'
import { assertOver, lastDayOf, staleMarkets, type WindowOptions, windowProblems } from './data-window.ts'
import { ledgerProblems } from './histories.ts'
import { toTask } from './run-strategies.ts'

/**
 * What a build adds to the problems that the reader finds, so that an operator learns of all at once. Modules are left out: they
 * run on a sound book alone. Ledgers of a book without any problem are audited by its night, on all threads. Throws if the as-of
 * day is not over.
 */
export function examineBook(options: WindowOptions): Examine {
  assertOver(options)
  return (sound, isBroken) => {
    // The end of the window of a broken book is not known.
    const ofWindow = isBroken ? staleMarkets(sound, options) : windowProblems(sound, options)
    const report = reportData(sound, options.nowMs)
    // Records are judged when they have been computed.
    const accept = sound.accept.filter(entry => !isOfRecord(entry))
    const late = lateAcceptances(accept, report)
    const findings = refusals(report, sound.accept)
    const problems = [...ofWindow, ...programFaults(sound, options), ...late, ...findings]
    const isSound = !isBroken && problems.length === 0
    const warnings = unusedAcceptances(accept, report)
    return { problems: isSound ? [] : [...problems, ...auditLedgers(sound, options)], report, warnings }
  }
}

function auditLedgers(sound: SoundParts, options: WindowOptions): Problem[] {
  const last = lastDayOf(sound, options)
  return sound.strategies.flatMap(entry => {
    const { bars, funding } = toTask(sound, entry, last)
    if (entry.source.kind !== 'ledger' || bars === null) return []
    if (bars.t.length === 0) return [] // there is nothing to hold a trade against
    return ledgerProblems({ entry, bars, funding }, entry.source)
  })
}
