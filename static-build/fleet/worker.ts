// A worker of a fleet: renders strategies of a run from their parts, into the public store.

import { sha256 } from '#storage/digest.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { RenderedPoint } from '../render-point.ts'
import { inLanes, linesOf, type Renderer, writePoints } from '../render-version.ts'
import {
  hasLines,
  type Lines,
  listRendered,
  type Plan,
  type PlannedStrategy,
  readPart,
  readPlan,
  saveLines,
} from './run-files.ts'

/** What a worker has: a coordinator is one, too. */
export type Worker = {
  /** Names it in reports: host and process. */
  readonly name: string
  readonly code: string
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly renderer: Renderer
}

/** A run that is under way, and its plan. */
export type Run = { readonly name: string; readonly plan: Plan }

/** This worker makes other bytes than the coordinator, so it takes no part. */
export class OtherCodeError extends Error {
  override readonly name = 'OtherCodeError'
}

/**
 * Reads the plan of a run; null if there is none, or the run is over. Throws an OtherCodeError if this worker has other code
 * than the coordinator, or renders the first strategy to other bytes.
 */
export async function joinRun(worker: Worker, name: string): Promise<Run | null> {
  const plan = await readPlan(worker.privateStore, name)
  if (plan === null) return null
  if (plan.code !== worker.code) {
    throw new OtherCodeError(
      `the run ${name} was started by code ${plan.code}, and this worker has ${worker.code}: use the same release, Node and ` +
        'architecture on all machines',
    )
  }
  const canary = await renderPart(worker, { name, plan }, plan.strategies[0]!)
  if (canary === null) return null
  if (digestOf(linesOf(canary)) === plan.canary) return { name, plan }
  throw new OtherCodeError(
    `this worker renders ${plan.strategies[0]?.id} of the run ${name} to other bytes than its coordinator: check the memory and ` +
      'the Node of this machine',
  )
}

/** The files of a strategy, not written; null if the run is over. */
export async function renderPart(
  { privateStore, renderer }: Worker,
  { name, plan }: Run,
  strategy: PlannedStrategy,
): Promise<RenderedPoint[] | null> {
  const part = await readPart(privateStore, name, strategy)
  return part === null ? null : renderer.part({ part, effort: plan.effort })
}

/** Equal for equal lines. */
export const digestOf = (artifacts: Lines['artifacts']): string => sha256(toJsonBytes(artifacts))

/** Renders a strategy, writes its files, and then its lines; does nothing if it is rendered, or the run is over. */
export async function renderStrategy(worker: Worker, run: Run, strategy: PlannedStrategy): Promise<void> {
  const { store, privateStore, name } = worker
  if (await hasLines(privateStore, run.name, strategy.id)) return
  const rendered = await renderPart(worker, run, strategy)
  if (rendered === null) return
  const artifacts = await writePoints(store, rendered)
  await saveLines(privateStore, run.name, strategy.id, { worker: name, artifacts })
}

/** The share `index` of `of`: from 0. */
export type Share = { readonly index: number; readonly of: number }

/** A store may refuse for a moment. */
const MOST_TRIES = 3
const RETRY_MS = 1_000

/**
 * Renders the share of a run, then what is missing of the other shares: those of a worker that was killed. When it resolves,
 * every strategy is rendered.
 */
export async function renderShare(
  worker: Worker,
  run: Run,
  share: Share,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  const render = (strategy: PlannedStrategy, tries = 1): Promise<void> =>
    renderStrategy(worker, run, strategy).catch(async (error: unknown) => {
      if (tries === MOST_TRIES) throw error
      await pause(RETRY_MS)
      return render(strategy, tries + 1)
    })
  const { strategies } = run.plan
  const own = strategies.filter((_, i) => i % share.of === share.index)
  await inLanes(own, worker.renderer.lanes, each => render(each))
  const rendered = new Set(await listRendered(worker.privateStore, run.name))
  const missing = strategies.filter(({ id }) => !rendered.has(id)).reverse() // what the others do last
  const from = Math.floor((missing.length * share.index) / share.of) // elsewhere than the other helpers
  await inLanes([...missing.slice(from), ...missing.slice(0, from)], worker.renderer.lanes, each =>
    render(each),
  )
}
