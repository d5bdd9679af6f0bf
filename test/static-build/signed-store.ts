// Two signed versions in memory, and audits of them.
import { type Audit, type AuditOrder, audit, faultsIn } from '#static-build/audit/audit.ts'
import type { TrustedKey } from '#static-build/audit/audit-signatures.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { createSigner, newPrivateKeyPem, parsePublicKey, type Signer } from '#storage/signature.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { copyAll, createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { BEFORE, orderOf, renderHere } from './hand-order.ts'

/** An hour after the newest version was published. */
export const NOW_MS = Date.parse(HAND_VERSION) + 3_600_000

export const newSigner = (): Signer => createSigner(newPrivateKeyPem())

/** The public key of a signer, as a subscriber pins it. */
export const keyOf = ({ publicKeyPem }: Signer): TrustedKey => parsePublicKey(publicKeyPem)!

/** Publishes `BEFORE` and `HAND_VERSION`, each with its signer or without one. */
export async function publishTwo(first: Signer | null, second: Signer | null): Promise<MemoryStores> {
  const stores = createMemoryStores()
  for (const [version, signer] of [
    [BEFORE, first],
    [HAND_VERSION, second],
  ] as const) {
    await publishVersion({ ...orderOf(version, stores), signer, render: renderHere })
  }
  return stores
}

/** A copy of a store that can be spoilt. */
export async function copyOf(store: ObjectStore): Promise<ObjectStore> {
  const { store: copy } = createMemoryStores()
  await copyAll(store, copy)
  return copy
}

/** Audits every version of a store as strictly as a subscriber does. */
export const auditStore = (store: ObjectStore, changes: Partial<AuditOrder> = {}): Promise<Audit> =>
  audit({
    reader: createStoreReader(store),
    trust: { kind: 'published' },
    nowMs: NOW_MS,
    versions: 'all',
    isUnsignedFault: true,
    isExpiryFault: true,
    privateStore: null,
    progress: () => {},
    ...changes,
  })

/** What an audit found, as `object: kind`. */
export const faultsOf = (found: Audit): string[] =>
  faultsIn(found).map(({ object, what }) => `${object}: ${what}`)
