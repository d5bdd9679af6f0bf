// Time stamps of pointer entries (RFC 3161): where they are, and what they say. Whether an authority signed them, openssl checks.
import { X509Certificate } from 'node:crypto'
import type { Manifest } from '#core/contract/manifest.ts'
import { anchorKey } from '#core/contract/pointer.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import type { Snapshot, TimeStamp } from '#core/dataset/snapshot.ts'
import type { ObjectStore } from './object-store.ts'
import type { LoggedEntry } from './pointer-log.ts'
import { findManifest } from './published-files.ts'

/** The entries that have no proof of their time yet, oldest first. */
export async function unanchored(store: ObjectStore, log: readonly LoggedEntry[]) {
  const keys = new Set(await store.list(anchorKey('')))
  return log.filter(({ sha256 }) => !keys.has(anchorKey(sha256)))
}

/** Those of the histories of a snapshot; none for what it publishes itself, and those read then if it is published already. */
export async function readTimeStamps(
  store: ObjectStore,
  { dataset, strategies }: Snapshot,
  log: readonly LoggedEntry[],
): Promise<Manifest['time_stamps']> {
  const own = log.find(({ entry }) => entry.version === dataset.version)
  const published = own && (await findManifest(store, own.entry))
  if (published?.fault === null) return published.manifest.time_stamps
  const found: Record<string, TimeStamp> = {}
  const sinces = new Set(strategies.map(({ published_since }) => published_since))
  for (const ancestor of dataset.lineage.slice(0, -1)) {
    const since = effectiveInstant(ancestor)
    const digest = sinces.has(since) && log.find(({ entry }) => entry.version === ancestor.version)?.sha256
    const proof = digest ? await store.read(anchorKey(digest)) : null
    const stamp = digest && proof !== null ? readTimeStamp(proof, digest) : null
    if (stamp !== null) found[since] = stamp
  }
  return found
}

/** Whether a proof is a reply of RFC 3161, which begins as DER does; others are kept as they are. */
export const isReply = (proof: Uint8Array): boolean => proof[0] === 0x30

/** The object identifier of the content, then the digest, then the time: as RFC 3161 orders them in a reply. */
const CONTENT_TYPE = Buffer.from('060b2a864886f70d0109100104', 'hex')
const TIME = /(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z/

/** When a reply says that this digest was there, and by which authority; null if it says so of none, or names not exactly one. */
export function readTimeStamp(bytes: Uint8Array, digest: string): TimeStamp | null {
  const reply = Buffer.from(bytes)
  const stamped = reply.indexOf(digest, reply.indexOf(CONTENT_TYPE), 'hex')
  const [, year, month, day, ...clock] = TIME.exec(reply.toString('latin1', Math.max(stamped, 0))) ?? []
  const [by, ...others] = authoritiesIn(reply)
  const isWhole = stamped !== -1 && year !== undefined && by !== undefined && others.length === 0
  return isWhole ? { at: `${year}-${month}-${day}T${clock.join(':')}Z`, by } : null
}

const TIME_STAMPING = '1.3.6.1.5.5.7.3.8'

/** The names in the certificates for time stamps that a reply brings, those of issuers aside. */
function authoritiesIn(reply: Buffer): readonly string[] {
  const names = new Set<string>()
  for (let at = reply.indexOf('3082', 0, 'hex'); at !== -1; at = reply.indexOf('3082', at + 1, 'hex')) {
    const { ca, keyUsage, subject } = certificateAt(reply, at) ?? {}
    if (subject !== undefined && !ca && keyUsage?.includes(TIME_STAMPING))
      names.add(/^CN=(.+)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', '))
  }
  return [...names]
}

function certificateAt(reply: Buffer, at: number): X509Certificate | null {
  try {
    return new X509Certificate(reply.subarray(at, at + 4 + reply.readUInt16BE(at + 2)))
  } catch {
    return null
  }
}
