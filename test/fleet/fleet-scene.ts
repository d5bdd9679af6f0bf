// A fleet in this process: a book of five strategies, its coordinator, its workers, and what one machine publishes.
import { beforeAll, expect } from 'vitest'
import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { type Counts, type Fleet, type PhaseOrder, runPhase } from '#fleet/coordinate.ts'
import { renderHandler, renderOnFleet } from '#fleet/render.ts'
import { endRun } from '#fleet/run-files.ts'
import { doShare, type Handler, joinRun, type Run, type Worker } from '#fleet/worker.ts'
import { type PublishOrder, publishVersion } from '#static-build/publish-version.ts'
import type { RenderedPoint } from '#static-build/render-point.ts'
import { createRenderer, type Renderer, type RenderOrder } from '#static-build/render-version.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { HAND_VERSION, handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { damage } from '#test/support/stores/store-doubles.ts'
import { orderOf, versionOf } from '../static-build/hand-order.ts'
import { describeDifferences, digestsOf, type Tree } from '../static-build/tree.ts'
import { atEndOfFile } from '../support/ends.ts'

export const IDS = ['ash', 'elm', 'fir', 'oak', 'yew']

const SNAPSHOT = handSnapshot(
  IDS.map((id, i) => ({
    id,
    returns: Array.from({ length: 40 }, (_, day) => Math.sin(day * (i + 1)) / 100),
  })),
)

export const RUN = 'night-1'
export const CODE = 'c0de'

const orderFor = (stores: MemoryStores): PublishOrder => ({
  ...orderOf(HAND_VERSION, stores),
  snapshot: SNAPSHOT,
})

/** A store that is asked before each object is created: what throws, or never ends, does so in place of the write. */
export const asking = (store: ObjectStore, ask: (key: string) => unknown): ObjectStore => ({
  ...store,
  create: async (key, bytes, headers) => {
    await ask(key)
    return store.create(key, bytes, headers)
  },
})

export const nextTurn = () => new Promise<void>(resolve => void setImmediate(resolve))

/** Neither published nor pointed to. */
export async function expectUnpublished(stores: MemoryStores): Promise<void> {
  expect(await versionOf(stores.store)).toBeNull()
  expect(await stores.store.has(CURRENT_KEY)).toBe(false)
}

/** The run, once the coordinator has begun it. */
export async function begun(worker: Worker): Promise<Run> {
  for (;;) {
    const run = await joinRun(worker, RUN, 'render')
    if (run !== null) return run
    await nextTurn()
  }
}

/** Renders a share of the run, once it has begun. */
export const share = async (worker: Worker, index: number, of: number): Promise<void> =>
  doShare(worker, await begun(worker), { index, of }, nextTurn)

/** What a worker of a scene may have of its own. */
type WorkerParts = {
  readonly name: string
  readonly code: string
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly renderer: Renderer
}

const unused: Handler = () => Promise.reject(new Error('a scene renders what is computed already'))

const toWorker = ({ name, code, store, privateStore, renderer }: WorkerParts): Worker => ({
  ...{ name, code, privateStore, lanes: renderer.lanes },
  handlers: { compute: unused, correlate: unused, render: renderHandler(renderer, store) },
})

/** Renders each file once, however many runs need it: all of them have the same snapshot. */
function remembering(renderer: Renderer): Renderer {
  const rendered = new Map<string, Promise<RenderedPoint[]>>()
  const once = (key: string, render: () => Promise<RenderedPoint[]>): Promise<RenderedPoint[]> => {
    const known = rendered.get(key) ?? render()
    rendered.set(key, known)
    return known
  }
  return {
    ...renderer,
    part: task => once(`part ${task.effort} ${task.part.strategies[0]!.id}`, () => renderer.part(task)),
    book: task => once(`book ${task.effort} ${JSON.stringify(task.point)}`, () => renderer.book(task)),
  }
}

/** A fleet for the tests of a file, on one thread that all of it shares. */
export function useFleet() {
  let renderer: Renderer
  let whole: Tree
  let wholePrivate: Tree
  beforeAll(async () => {
    const own = createRenderer(1)
    atEndOfFile(own.close)
    renderer = remembering(own)
    const stores = createMemoryStores()
    await publishVersion(orderFor(stores))
    whole = await digestsOf(stores.store)
    wholePrivate = await digestsOf(stores.privateStore)
  })
  return {
    /** Publishes as the coordinator of a fleet; without changes it has no jobs and waits for workers for ever. Returns what each rendered. */
    async coordinate(stores: MemoryStores, changes: Partial<Fleet> = {}) {
      let workers: Counts = {}
      const fleet: Fleet = {
        ...toWorker({ name: 'coordinator', code: CODE, ...stores, renderer }),
        run: RUN,
        version: HAND_VERSION,
        effort: 'quick',
        jobs: null,
        waitMs: Number.POSITIVE_INFINITY,
        elapsed: () => performance.now(),
        now: () => Date.parse(HAND_VERSION),
        pause: nextTurn,
        note: () => {},
        ...changes,
      }
      const run = async (order: PhaseOrder) => {
        workers = await runPhase(fleet, order)
      }
      const render = (order: RenderOrder) => renderOnFleet(run, renderer, order)
      await publishVersion({ ...orderFor(stores), render })
      await endRun(stores.privateStore, RUN, HAND_VERSION)
      return workers
    },
    workerOf: (stores: MemoryStores, changes: Partial<WorkerParts> = {}): Worker =>
      toWorker({ name: 'worker', code: CODE, ...stores, renderer, ...changes }),
    /** A renderer that alters the files of these keys, and describes what it made. */
    altering: (isAltered: (key: string) => boolean): Renderer => ({
      ...renderer,
      part: async task =>
        (await renderer.part(task)).map(point => {
          const [plain, ...twins] = point.files
          if (!isAltered(point.artifact.key) || plain === undefined) return point
          const altered = { ...plain, bytes: damage(plain.bytes) as typeof plain.bytes }
          return { artifact: { ...point.artifact, sha256: 'f'.repeat(64) }, files: [altered, ...twins] }
        }),
    }),
    /** A renderer that loses a file of each strategy. */
    losing: (): Renderer => ({ ...renderer, part: async task => (await renderer.part(task)).slice(1) }),
    /** Both stores hold what one machine writes, and one record of the run. */
    async expectWhole({ store, privateStore }: MemoryStores): Promise<void> {
      expect(describeDifferences(whole, await digestsOf(store))).toEqual([])
      expect(describeDifferences(wholePrivate, await digestsOf(privateStore))).toEqual([
        `unexpected: fleet/${RUN}/end.json`,
      ])
    },
  }
}
