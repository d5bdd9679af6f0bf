// A thread of the static build or of a worker of a fleet: renders files of one strategy, or of the book.
import { kTransferable, kValue, Tinypool, type Transferable } from 'tinypool'
import type { Effort } from '#core/contract/manifest.ts'
import { partOf } from '#core/dataset/part.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import { placeFolder } from '#storage/folder-batch.ts'
import {
  type Point,
  publishedPoints,
  type RenderedPoint,
  renderPoint,
  sidOf,
  strategyFolder,
} from './render-point.ts'

/** The part of one strategy (`core/dataset/part.ts`). */
export type PartTask = { readonly part: Snapshot; readonly effort: Effort }

/** Returns a `RenderedPoint` for each point of the strategy of a part. */
export const renderPart = ({ part, effort }: PartTask) => handOver(renderOne(part, effort))

type WholeTask = {
  readonly version: string
  /** The snapshot on shared memory: every thread reads the same bytes. */
  readonly snapshot: SnapshotBytes
  readonly effort: Effort
}

/** A strategy by its position in the snapshot, and the store that its folder is written to; null writes none. */
export type StrategyTask = WholeTask & { readonly position: number; readonly placeIn: string | null }

/** From the part that a worker of a fleet would get; without files if they are written. The caller compares one that exists. */
export function renderStrategy({ position, effort, placeIn, ...whole }: StrategyTask) {
  const part = partOf(decode(whole), position)
  const rendered = renderOne(part, effort)
  const folder = strategyFolder(part.dataset.version, part.strategies[0]!.id)
  const files = rendered.flatMap(point => point.files)
  if (placeIn === null || !placeFolder(placeIn, folder, files)) return handOver(rendered)
  return rendered.map(({ artifact }): RenderedPoint => ({ artifact, files: [] }))
}

export type BookTask = WholeTask & { readonly point: Point }

export const renderBook = ({ point, effort, ...whole }: BookTask) =>
  handOver([renderPoint(decode(whole), point, effort)])

/** Decoding costs a pass over the document, so a thread does it once; one build has one snapshot. */
let decoded: { readonly version: string; readonly snapshot: Snapshot } | null = null

function decode({ version, snapshot }: Pick<WholeTask, 'version' | 'snapshot'>): Snapshot {
  if (decoded?.version !== version) decoded = { version, snapshot: decodeSnapshot(snapshot) }
  return decoded.snapshot
}

const renderOne = (part: Snapshot, effort: Effort): RenderedPoint[] =>
  publishedPoints(part)
    .filter(point => sidOf(point) !== '')
    .map(point => renderPoint(part, point, effort))

/** The bytes change hands: a copy of an export is seventy megabytes, and sending makes three. */
const handOver = (rendered: RenderedPoint[]) => {
  // Small buffers of Node are parts of one that it keeps. Those are copied, as all that is not listed here.
  const own = rendered.flatMap(({ files }) =>
    files.filter(({ bytes }) => bytes.length === bytes.buffer.byteLength).map(({ bytes }) => bytes.buffer),
  )
  const message: Transferable = { [kTransferable]: own, [kValue]: rendered }
  return Tinypool.move(message)
}
