// The pointer log: the append-only record of which version was served when. Its newest entry is the one that
// is served.
import { z } from 'zod'
import { flag, named, text, textOrNull, word } from './payloads/field.ts'
import { sortedNumber } from './sorted-number.ts'

export const pointerEntry = named('PointerEntry', {
  seq: z.int().min(1).describe('Number of the entry: 1, 2, 3 and so on, without a gap.'),
  action: word('Why it was written.', ['publish', 'rollback', 'refresh']),
  version: text('The version that is served from here on, a UTC instant.'),
  manifest_sha256: text('Digest of its manifest.'),
  prev_entry_sha256: textOrNull('Digest of the entry before, null in the first.'),
  at: text('When it was written, a UTC instant.'),
  expires: text('After this it no longer proves what is served.'),
  history_restated: flag('Whether the version alters history that the one before had published.'),
})

export type PointerEntry = z.infer<typeof pointerEntry>

export const POINTER_PREFIX = 'v1/pointer/'

const ENTRY_KEY = /^v1\/pointer\/(\d+)\.json$/

/** `v1/pointer/0000000042.json`: the key of an entry. */
export const pointerKey = (seq: number): string => `${POINTER_PREFIX}${sortedNumber(seq)}.json`

/** The number of the entry under a key, or null where the key is none of an entry. */
export function seqOfKey(key: string): number | null {
  const [, digits] = ENTRY_KEY.exec(key) ?? []
  return digits === undefined ? null : Number(digits)
}

/** The key of the signature of an entry: the digest of its bytes, because it is written before the entry. */
export const signatureKey = (entrySha256: string): string => `${POINTER_PREFIX}signatures/${entrySha256}.sig`

/** The key of the proof of when an entry was there, by the digest of its bytes: it is made after the entry. */
export const anchorKey = (entrySha256: string): string => `${POINTER_PREFIX}anchors/${entrySha256}`

/** Derived from the log, and the only object that is ever overwritten. */
export const CURRENT_KEY = 'v1/current.json'

/** Its content: the newest entry when it was written; to be sure, look for the entries after it. */
export const currentHint = named('CurrentPointer', {
  seq: z.int().min(1).describe('Number of the entry.'),
  version: text('The version that it names, a UTC instant.'),
  manifest_sha256: text('Digest of the manifest of that version.'),
})

export type CurrentHint = z.infer<typeof currentHint>
