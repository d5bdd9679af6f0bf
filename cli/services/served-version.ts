import type { Manifest } from '#core/contract/manifest.ts'
import type { Alert } from '#signals/alerts.ts'
import { messageOf } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import {
  readManifest,
  readProgramOf,
  readSnapshotFacts,
  type ServedProgram,
} from '#storage/published-files.ts'

/** How often the served version is checked. */
export const LOOK_MS = 5_000

/**
 * Follows the served version by `look`. A program that cannot be read leaves the previous one in place, and is read
 * again at every look.
 */
export function followVersion(
  store: ObjectStore,
  privateStore: ObjectStore,
  { onError, raise }: { readonly onError: (error: unknown) => void; readonly raise: (alert: Alert) => void },
) {
  // A manifest names every file of a version and is large: only these fields of it are kept.
  let served:
    | (Pick<Manifest, 'version' | 'strategies' | 'program_sha256' | 'snapshot'> & { sha256: string })
    | null = null
  let baseRisks: ReadonlyMap<string, number> = new Map()
  let program: ServedProgram | null = null
  let programOf = ''
  let looking: Promise<void> | null = null
  const lookOnce = async (): Promise<void> => {
    const head = await readHead(store)
    if (head === null) return
    const { manifest_sha256: sha256 } = head.entry
    if (sha256 !== served?.sha256) {
      const { version, strategies, program_sha256, snapshot } = await readManifest(store, head.entry)
      served = { sha256, version, strategies, program_sha256, snapshot }
    }
    if (sha256 === programOf) return
    const { dataset, strategies } = await readSnapshotFacts(privateStore, served)
    baseRisks = new Map(strategies.map(({ id, base_risk_pct }) => [id, base_risk_pct]))
    const stored = await readProgramOf(privateStore, served)
    program = stored && { ...stored, dataset }
    programOf = sha256
  }
  const report = (error: unknown): void => {
    onError(error)
    const instead = program === null ? 'no program is served' : `that of ${program.version} is served on`
    const reason = messageOf(error)
    const message = `the program of the served version cannot be read, ${instead}: ${reason}`
    raise({ kind: 'program_unreadable', subject: 'program', message })
  }
  return {
    /** The strategies, in catalogue order; empty until something is published. */
    aliases: (): readonly string[] => served?.strategies ?? [],
    /** The base risk of a strategy in the catalogue; undefined if there is none, or it could not be read yet. */
    baseRiskOf: (alias: string): number | undefined => baseRisks.get(alias),
    /** The program; null if the version has none, or none could be read yet. */
    program: () => program,
    /** Checks which version is served. Never rejects. */
    look(): Promise<void> {
      // One check at a time: a slow one could replace a newer version with an older one.
      looking ??= lookOnce()
        .catch(report)
        .finally(() => {
          looking = null
        })
      return looking
    },
  }
}
