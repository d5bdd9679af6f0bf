// A thread of the static build: gets canonical points, writes their files, returns their lines of the manifest.
import type { Artifact } from '#core/contract/manifest.ts'
import { decodeSnapshot } from '#core/snapshot/decode-snapshot.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import type { SnapshotBytes } from '#core/snapshot/snapshot-files.ts'
import { openStore } from '#storage/open-store.ts'
import { type Point, renderPoint } from './render-point.ts'

export type RenderTask = {
  readonly storeUrl: string
  /** The snapshot on shared memory: every thread reads the same bytes. */
  readonly snapshot: SnapshotBytes
  readonly points: readonly Point[]
}

/** Decoding costs a pass over the document, so a thread does it once; one build has one snapshot. */
let decoded: { readonly version: string; readonly snapshot: Snapshot } | null = null

export async function renderPoints(task: RenderTask & { readonly version: string }): Promise<Artifact[]> {
  if (decoded?.version !== task.version) {
    decoded = { version: task.version, snapshot: decodeSnapshot(task.snapshot) }
  }
  const store = await openStore(task.storeUrl)
  const artifacts: Artifact[] = []
  for (const point of task.points) artifacts.push(await renderPoint(store, decoded.snapshot, point))
  return artifacts
}
