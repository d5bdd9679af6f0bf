// The result of an audit: checks, each with its faults, worded so that a person can act on them.
import { SEALS_PREFIX } from '#core/contract/seals.ts'
import { sha256 } from '#storage/digest.ts'
import type { StoreError } from '#storage/object-store.ts'
import { type Place, type PublicReader, tryRead } from './reader.ts'

export type Fault = {
  /** Its key in the store, or its path at the service. */
  readonly object: string
  readonly what: FaultOfBytes | FaultOfProof | FaultOfTime
  /** A sentence without its full stop. */
  readonly told: string
}

type FaultOfBytes = 'missing' | 'altered' | 'unreadable' | 'of another form' | 'of another version'
type FaultOfProof = 'unsigned' | 'wrongly signed' | 'wrongly stamped' | 'not in the chain'
type FaultOfTime = 'expired' | 'from the future' | 'dated otherwise'

/** A step of an audit. It passed if it has no fault. */
export type Check = {
  readonly check: CheckOfLog | CheckOfVersion | CheckOfSeals
  /** The version that it checks; null for the log. */
  readonly version: string | null
  /** What was found in order, or what was looked at. */
  readonly told: string
  readonly faults: readonly Fault[]
  readonly notes: readonly string[]
}

type CheckOfLog = 'keys' | 'log' | 'clock' | 'stamps' | 'head' | 'signatures' | 'derived'
type CheckOfSeals = 'chain' | 'times' | 'openings' | 'receipts' | 'live' | 'news'
type CheckOfVersion = 'manifest' | 'documents' | 'files' | 'snapshot' | 'program'

export const toCheck = (
  check: Check['check'],
  version: string | null,
  summary: string,
  faults: readonly Fault[],
  notes: readonly string[] = [],
): Check => ({ check, version, told: summary, faults, notes })

/** The same of the chain of seals, whose faults are sentences. `proven` is said beside the summary only if there is none. */
export const checkOf = (
  check: CheckOfSeals | 'keys' | 'stamps',
  summary: string,
  sentences: readonly string[],
  notes: readonly string[] = [],
  proven = '',
): Check => {
  const faults = sentences.map((told): Fault => ({ object: SEALS_PREFIX, what: 'not in the chain', told }))
  return toCheck(check, null, faults.length === 0 ? summary + proven : summary, faults, notes)
}

/** A fault of the object at a place. `rest` completes a sentence that begins with its name. */
export function faultAt(reader: PublicReader, place: Place, what: Fault['what'], rest: string): Fault {
  const object = reader.nameOf(place)
  return { object, what, told: `${object} ${rest}` }
}

/** The fault of an object that must exist, and was not found or could not be read. */
export const absenceOf = (reader: PublicReader, place: Place, found: null | StoreError): Fault =>
  found === null
    ? faultAt(reader, place, 'missing', 'is missing')
    : { object: reader.nameOf(place), what: 'unreadable', told: found.message }

/** Reads an object that must exist, and have this digest if one is known: its bytes, or the fault. */
export async function demand(reader: PublicReader, place: Place, digest?: string) {
  const found = await tryRead(reader, place)
  if (!(found instanceof Uint8Array)) return absenceOf(reader, place, found)
  if (digest === undefined || sha256(found) === digest) return found
  return faultAt(reader, place, 'altered', OTHER_DIGEST)
}

export const isFault = (found: Uint8Array | Fault): found is Fault => !(found instanceof Uint8Array)

export const OTHER_DIGEST = 'is altered: its digest is not the one in the manifest'
