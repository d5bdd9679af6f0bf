// The report of an audit, for `verify-store`, `verify-remote` and `nightly`.
import { type Audit, type AuditOrder, audit, faultsIn } from '#static-build/audit/audit.ts'
import type { Check, Fault } from '#static-build/audit/check.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import type { Stores } from '#storage/object-store.ts'
import type { Runtime } from '../runtime.ts'
import type { Terminal } from './terminal.ts'

/** A store that lost everything would fill the screen; `--json` lists all. */
const MOST_SHOWN = 20

export const auditStore = (
  { store, privateStore, isPrivateNamed }: Stores & { readonly isPrivateNamed: boolean },
  versions: AuditOrder['versions'],
  { now, terminal }: Pick<Runtime, 'now' | 'terminal'>,
  tsaCa: string | null = null,
): Promise<Audit> =>
  audit({
    reader: createStoreReader(store),
    trust: { kind: 'published' },
    nowMs: now(),
    versions,
    isUnsignedFault: false,
    isExpiryFault: false,
    privateStore: { store: privateStore, isNamed: isPrivateNamed },
    tsaCa,
    progress: terminal.progress,
  })

export const toReport = (url: string, found: Audit): object => ({
  url,
  sound: faultsIn(found).length === 0,
  head: found.head === null ? null : { ...found.head.entry, entry_sha256: found.head.sha256 },
  keys: found.trusted.map(({ id, fingerprint }) => ({ id, fingerprint })),
  checks: found.checks,
})

/** Prints what an audit found: the report for `--json`, or its lines and, for people alone, notes that change nothing about it. */
export function printAudit(
  { checks }: Pick<Audit, 'checks'>,
  { isJson, report, lines }: { isJson: boolean | undefined; report: object; lines: readonly string[] },
  { result, note }: Terminal,
): void {
  result(isJson, report, lines)
  if (!isJson) for (const each of checks.flatMap(({ notes }) => notes)) note(`note: ${each}`)
}

/** A line for each check, and below it what is wrong. */
export const checkLines = ({ checks }: Pick<Audit, 'checks'>): string[] =>
  checks.flatMap(check => [lineOf(check), ...linesOf(check.faults).map(line => `        ${line}`)])

function lineOf({ check, version, told: summary, faults }: Check): string {
  const word = faults.length === 0 ? 'ok    ' : 'FAILED'
  return `${word}  ${check.padEnd(10)}  ${version === null ? '' : `${version}  `}${summary}`
}

/** What is wrong with the log, and a line for each version. */
export function versionLines({ checks }: Audit): string[] {
  const byVersion = Map.groupBy(checks, ({ version }) => version)
  return [...byVersion].flatMap(([version, own]) => {
    if (version === null)
      return own.flatMap(({ check, told, faults }) => [
        ...(check === 'clock' || check === 'stamps' ? [told] : []),
        ...linesOf(faults),
      ])
    const faults = linesOf(own.flatMap(each => each.faults))
    const { told } = own.find(({ check }) => check === 'files') ?? own[0]! // a version that was removed has no files
    return [`${version}  ${faults.length === 0 ? told : faults.join(', ')}`]
  })
}

const linesOf = (faults: readonly Fault[]): string[] => [
  ...faults.slice(0, MOST_SHOWN).map(fault => fault.told),
  ...(faults.length > MOST_SHOWN ? [`and ${faults.length - MOST_SHOWN} more (--json lists all)`] : []),
]

/** Throws if anything is wrong, so that the command ends with exit code 1. */
export function assertSound(url: string, found: Pick<Audit, 'checks'>, remedy: string): void {
  const count = faultsIn(found).length
  if (count > 0) throw new Error(`${url}: ${count} fault(s); ${remedy}`)
}
