// A thread of the static build: gets canonical points, returns their files and lines of the manifest.
import { kTransferable, kValue, Tinypool, type Transferable } from 'tinypool'
import type { Effort } from '#core/contract/effort.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import { type Point, type RenderedPoint, renderPoint } from './render-point.ts'

export type RenderTask = {
  readonly version: string
  /** The snapshot on shared memory: every thread reads the same bytes. */
  readonly snapshot: SnapshotBytes
  readonly points: readonly Point[]
  readonly effort: Effort
}

/** Decoding costs a pass over the document, so a thread does it once; one build has one snapshot. */
let decoded: { readonly version: string; readonly snapshot: Snapshot } | null = null

/** Returns a `RenderedPoint` for each point to the caller of the pool. */
export function runTask({ version, snapshot, points, effort }: RenderTask) {
  if (decoded?.version !== version) decoded = { version, snapshot: decodeSnapshot(snapshot) }
  const whole = decoded.snapshot
  return handOver(points.map(point => renderPoint(whole, point, effort)))
}

/** The bytes change hands: a copy of an export is seventy megabytes, and sending makes three. */
const handOver = (rendered: RenderedPoint[]) => {
  const message: Transferable = { [kTransferable]: rendered.flatMap(ownBuffers), [kValue]: rendered }
  return Tinypool.move(message)
}

/** Small buffers of Node are parts of one that it keeps. Those are copied, as all that is not listed here. */
const ownBuffers = ({ files }: RenderedPoint): ArrayBufferLike[] =>
  files.filter(({ bytes }) => bytes.length === bytes.buffer.byteLength).map(({ bytes }) => bytes.buffer)
