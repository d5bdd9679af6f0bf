import type { Source } from './book.ts'
import { listed } from './field.ts'
import { type Folder, filesUnder, tableAt } from './folder.ts'
import type { Claim } from './read-catalogue.ts'
import { readLedger } from './read-ledger.ts'
import { readReturns } from './read-returns.ts'
import { placeOf, type Reading, readWhole } from './reading.ts'

/**
 * Reads the source of every strategy; one that is missing, or not the only one, is a problem. Returns the sound ones by
 * id.
 */
export async function readSources(
  reading: Reading,
  folder: Folder,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, Source>> {
  const sources = new Map<string, Source>()
  for (const claim of claims) {
    const found = candidatesOf(reading, folder, claim)
    const source = await readSource(reading, claim, found, folder)
    const isSound = Object.values(found).every(path => path === null || !reading.problems.has(path))
    if (source !== null && isSound) sources.set(claim.id, source)
  }
  return sources
}

/** The files that a strategy of this id could be made of. */
type Candidates = {
  readonly module: string | null
  readonly ledger: string | null
  readonly returns: string | null
}

function candidatesOf(reading: Reading, folder: Folder, { id }: Claim): Candidates {
  const module = `strategies/${id}.ts`
  return {
    module: folder.has(module) ? module : null,
    ledger: tableAt(reading, folder, `ledgers/${id}`),
    returns: tableAt(reading, folder, `returns/${id}`),
  }
}

async function readSource(
  reading: Reading,
  claim: Claim,
  found: Candidates,
  folder: Folder,
): Promise<Source | null> {
  const path = found[claim.source]
  reportStrangers(claim, found)
  if (path === null) {
    reportMissing(claim, folder)
    return null
  }
  switch (claim.source) {
    case 'module':
      return (await readWhole(reading, path)) && { kind: 'module', path: placeOf(reading, path) }
    case 'ledger':
      return { kind: 'ledger', ...(await readLedger(reading, path, rulesOf(claim, false))) }
    case 'returns':
      return {
        kind: 'returns',
        daily: await readReturns(reading, path),
        ledger: found.ledger === null ? null : await readLedger(reading, found.ledger, rulesOf(claim, true)),
      }
  }
}

const rulesOf = ({ allow_overlap }: Claim, besideReturns: boolean) => ({
  allowOverlap: allow_overlap,
  besideReturns,
})

const FOLDER_OF = { module: 'strategies', ledger: 'ledgers', returns: 'returns' } as const

/** Two sources of one strategy: nobody could tell which of them was published. */
function reportStrangers({ source, id, report }: Claim, { module, ledger, returns }: Candidates): void {
  const allowed = { module: [module], ledger: [ledger], returns: [returns, ledger] }[source]
  const strangers = [module, ledger, returns].filter(path => path !== null && !allowed.includes(path))
  if (strangers.length === 0) return
  report(
    'source',
    `expected ${id} to have no other source than its ${source}, got ${strangers.join(' and ')} too: remove one`,
  )
}

function reportMissing({ source, id, report }: Claim, folder: Folder): void {
  const parent = FOLDER_OF[source]
  const wanted = source === 'module' ? `${parent}/${id}.ts` : `${parent}/${id}.csv or .csv.gz`
  const beside = filesUnder(folder, parent)
  report(
    'source',
    `expected ${wanted}, got no such file; ${parent}/ has ${beside.length === 0 ? 'no files' : listed(beside)}`,
  )
}
