// A worker of a fleet: does tasks of a run, and stores their results.
import { inLanes } from '#static-build/render-version.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { retry } from '#storage/retry.ts'
import {
  hasResult,
  listDone,
  type Phase,
  type Place,
  type Plan,
  RunOverError,
  readInput,
  readPlan,
  saveResult,
  type Task,
} from './run-files.ts'

/** What is made of a task: its result, and what else is to be written before it counts as done, if there is more. */
export type Made = { readonly bytes: Uint8Array; readonly write?: () => Promise<unknown> }

/** Equal inputs give equal bytes in every process of the same code. `read` returns what an input refers to, by its digest. */
export type Handler = (
  input: Uint8Array,
  context: { readonly plan: Plan; readonly read: (digest: string) => Promise<Uint8Array> },
) => Promise<Made>

/** What a worker has: a coordinator is one, too. */
export type Worker = {
  /** Names it in reports: host and process. */
  readonly name: string
  readonly code: string
  readonly privateStore: ObjectStore
  readonly handlers: Readonly<Record<Phase, Handler>>
  /** Tasks at a time. */
  readonly lanes: number
}

export type Run = Place & { readonly plan: Plan }

/** This worker makes other bytes than the coordinator, so it takes no part. */
export class OtherCodeError extends Error {
  override readonly name = 'OtherCodeError'
}

/** Null if the phase has no plan, or the run is over. Throws an OtherCodeError for other code, or other bytes of the first task. */
export async function joinRun(worker: Worker, name: string, phase: Phase): Promise<Run | null> {
  const place = { privateStore: worker.privateStore, run: name, phase }
  const plan = await readPlan(place)
  if (plan === null) return null
  if (plan.code !== worker.code)
    throw new OtherCodeError(
      `the run ${name} was started by code ${plan.code}, and this worker has ${worker.code}: use the same release, Node and ` +
        'architecture on all machines',
    )
  const run = { ...place, plan }
  const first = plan.tasks[0]!
  const canary = await unlessOver(() => makeTask(worker, run, first))
  if (canary === null) return null
  if (sha256(canary.bytes) === plan.canary) return run
  throw new OtherCodeError(
    `this worker makes other bytes of ${first.id} of the run ${name} than its coordinator: check the memory and the Node of ` +
      'this machine',
  )
}

/** Makes the result of a task, and writes nothing. Rejects with a RunOverError if the run is over. */
export async function makeTask({ handlers }: Worker, run: Run, { input }: Task): Promise<Made> {
  const read = (digest: string) => readInput(run, digest)
  return handlers[run.phase](await read(input), { plan: run.plan, read })
}

/** Does a task; nothing if it is done, or the run is over. */
export async function doTask(worker: Worker, run: Run, task: Task): Promise<void> {
  if (await hasResult(run, task.id)) return
  const made = await unlessOver(() => makeTask(worker, run, task))
  if (made === null) return
  await made.write?.()
  await saveResult(run, task.id, { worker: worker.name, bytes: made.bytes })
}

const unlessOver = <Value>(work: () => Promise<Value>): Promise<Value | null> =>
  work().catch((error: unknown) => {
    if (error instanceof RunOverError) return null
    throw error
  })

/** The share `index` of `of`: from 0. */
export type Share = { readonly index: number; readonly of: number }

/** A store may refuse for a moment. */
const MOST_TRIES = 3
const RETRY_MS = 1_000

/** Does its share, then what is missing of the others: those of a worker that was killed. When it resolves, every task is done. */
export async function doShare(worker: Worker, run: Run, share: Share, pause: (ms: number) => Promise<void>) {
  const wait = () => pause(RETRY_MS)
  const attempt = (task: Task) => retry(() => doTask(worker, run, task), MOST_TRIES, wait)
  const { tasks } = run.plan
  const own = tasks.filter((_, i) => i % share.of === share.index)
  await inLanes(own, worker.lanes, attempt)
  const done = new Set(await listDone(run))
  const missing = tasks.filter(({ id }) => !done.has(id)).reverse() // what the others do last
  const from = Math.floor((missing.length * share.index) / share.of) // elsewhere than the other helpers
  await inLanes([...missing.slice(from), ...missing.slice(0, from)], worker.lanes, attempt)
}
