// Versions of one strategy and a program, published in memory and without artifacts, which no program is in.
import { privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { ProgramData, ProgramPlan } from '#core/program/program.ts'
import { rollBack } from '#static-build/move-pointer.ts'
import { type PublishOrder, publishVersion } from '#static-build/publish-version.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest, readProgram, type StoredProgram } from '#storage/published-files.ts'
import type { MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { barsOf, CORE_ONLY, planOf } from '../core/program/programs.ts'
import { orderOf } from './hand-order.ts'

/** The versions of four nights. */
export const A = '2024-06-01T00:15:00Z'
export const B = '2024-06-02T00:15:00Z'
export const C = '2024-06-03T00:15:00Z'
export const D = '2024-06-04T00:15:00Z'

/** A core that buys on every bar of a window of nine; `closes` are what has happened. */
export const programOf = (closes: readonly number[], changed: Partial<ProgramPlan> = {}): ProgramData =>
  prepareProgram(planOf(9, { tiers: CORE_ONLY, contribution_cadence_bars: 1, ...changed }), barsOf(closes))

export async function publishWith(
  stores: MemoryStores,
  version: string,
  program: ProgramData | null,
  changes: Partial<PublishOrder> = {},
): Promise<Manifest> {
  const order = { ...orderOf(version, stores), program, render: async () => [], ...changes }
  return (await publishVersion(order)).manifest
}

export async function backTo({ store }: MemoryStores, version: string) {
  const head = await readHead(store)
  return rollBack(store, version, { nowMs: Date.parse(head!.entry.at), signer: null })
}

/** The program of the served version. */
export async function servedProgram(stores: MemoryStores): Promise<StoredProgram | null> {
  const head = await readHead(stores.store)
  return head && readProgram(stores.privateStore, await readManifest(stores.store, head.entry))
}

/** Replaces a private file of a version by rubbish. */
export const spoil = ({ privateStore }: MemoryStores, version: string, name: string): Promise<void> =>
  privateStore.replace(privateKey(version, name), new Uint8Array([1]), { content_type: 'x' })
