// A thread of the static build: gets a canonical point, returns its files as bytes and its line of the manifest.
import { decodeSnapshot } from '#core/snapshot/decode-snapshot.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import type { SnapshotBytes } from '#core/snapshot/snapshot-files.ts'
import { type Point, type RenderedPoint, renderPoint } from './render-point.ts'

export type RenderTask = {
  readonly version: string
  /** The snapshot on shared memory: every thread reads the same bytes. */
  readonly snapshot: SnapshotBytes
  readonly point: Point
}

/** Decoding costs a pass over the document, so a thread does it once; one build has one snapshot. */
let decoded: { readonly version: string; readonly snapshot: Snapshot } | null = null

export function runTask({ version, snapshot, point }: RenderTask): RenderedPoint {
  if (decoded?.version !== version) decoded = { version, snapshot: decodeSnapshot(snapshot) }
  return renderPoint(decoded.snapshot, point)
}
