// Computing on a fleet: the tasks of a book, which need neither its folder nor each other, and what a worker makes of them.
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type { Benchmark } from '#core/dataset/snapshot.ts'
import { assembleCorrelation, type CorrelationRows, rowBlocks } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { type Bars, type Funding, toBars, toShared } from '#core/replay/bars.ts'
import type { StrategyEntry } from '#pipeline/book/book.ts'
import { createProcesses, type ProcessOptions } from '#pipeline/modules/processes.ts'
import { type Proof, proofOf, runModules } from '#pipeline/modules/run-modules.ts'
import type { Computer } from '#pipeline/night/compute-snapshot.ts'
import type { ComputedStrategy, StrategyTask } from '#pipeline/night/compute-strategy.ts'
import type { Refused } from '#pipeline/night/histories.ts'
import { moduleTasks, type Ran, runStrategy, toTask } from '#pipeline/night/run-strategies.ts'
import { createThreads } from '#pipeline/night/threads.ts'
import type { PhaseOrder } from './coordinate.ts'
import { pack, unpack } from './pack.ts'
import type { Made } from './worker.ts'

type TaskRunner = {
  /** Stores what inputs refer to, and returns its digest. */
  readonly share: (bytes: Uint8Array) => Promise<string>
  readonly run: (order: PhaseOrder) => Promise<unknown>
}

type Read = (digest: string) => Promise<Uint8Array>

/** The task of a strategy, with digests of what many have in common. */
type ComputeInput = Omit<StrategyTask, 'run' | 'bars' | 'funding' | 'benchmarks'> & {
  readonly bars: string | null
  readonly funding: string | null
  readonly benchmarks: string
  /** The folder of the modules; null if the strategy has none. */
  readonly modules: string | null
  readonly proof: Proof
}

/** More blocks than any fleet has lanes, and so many that doing one of them twice costs little. */
const BLOCKS = 128

type CorrelateInput = { readonly series: string; readonly fromRow: number; readonly toRow: number }

/** Computes what a night computes, on the workers of a run: each strategy is a task, then each block of rows of the matrices. */
export const createFleetComputer = (runner: TaskRunner): Computer => ({
  async strategies(parts, lastDay, { benchmarks, service }) {
    const tasks = parts.strategies.map(entry => toTask(parts, entry, lastDay))
    const folder = join(parts.dir, 'strategies')
    const own = moduleTasks(tasks)
    const proof = proofOf(own)
    const modules = own.length === 0 ? null : await runner.share(pack(await readFolder(folder)))
    const known = new Map<object, Promise<string>>()
    const shareOnce = (key: object, value: unknown): Promise<string> => {
      const sharing = known.get(key) ?? runner.share(pack(value))
      known.set(key, sharing)
      return sharing
    }
    const common = { benchmarks: await runner.share(pack(benchmarks)), service, proof }
    const inputs: ComputeInput[] = []
    for (const { entry, bars, funding, lastDay } of tasks) {
      inputs.push({
        ...common,
        lastDay,
        entry: withPath(entry, path => relative(folder, path)),
        // Those of an ended strategy are cut.
        bars: bars && (await shareOnce(entry.ended === null ? bars.c.buffer : bars, bars)),
        funding: funding && (await shareOnce(funding, funding)),
        modules: entry.source.kind === 'module' ? modules : null,
      })
    }
    const outcomes = new Map<string, Ran<ComputedStrategy> | Refused>()
    await runner.run({
      phase: 'compute',
      unit: 'strategy',
      tasks: inputs.map(input => ({ id: input.entry.id, input: () => pack(input) })),
      take: (id, { bytes }) => outcomes.set(id, unpack(bytes)),
    })
    return inputs.map(({ entry }) => outcomes.get(entry.id)!)
  },
  async correlation(strategies) {
    const blocks = rowBlocks(strategies.length, BLOCKS)
    const inputs = new Map<string, CorrelateInput>()
    for (const period of ['daily', 'weekly'] as const) {
      const series = await runner.share(pack(strategies.map(each => each[period])))
      for (const [fromRow, toRow] of blocks) inputs.set(`${period}-${fromRow}`, { series, fromRow, toRow })
    }
    const rows = { daily: [] as CorrelationRows[], weekly: [] as CorrelationRows[] }
    await runner.run({
      phase: 'correlate',
      unit: 'block',
      tasks: [...inputs].map(([id, input]) => ({ id, input: () => pack(input) })),
      take: (id, { bytes }) => rows[id.startsWith('daily') ? 'daily' : 'weekly'].push(unpack(bytes)),
    })
    return {
      daily: assembleCorrelation(strategies.length, rows.daily),
      weekly: assembleCorrelation(strategies.length, rows.weekly),
    }
  },
})

function withPath(entry: StrategyEntry, change: (path: string) => string): StrategyEntry {
  const { source } = entry
  return source.kind === 'module' ? { ...entry, source: { ...source, path: change(source.path) } } : entry
}

/** The bytes of each file of a folder by its path there, or what a link leads to. */
async function readFolder(folder: string): Promise<ReadonlyMap<string, Uint8Array | string>> {
  const entries = new Map<string, Uint8Array | string>()
  for (const path of (await readdir(folder, { recursive: true })).sort()) {
    const found = await lstat(join(folder, path))
    if (found.isSymbolicLink()) entries.set(path, await readlink(join(folder, path)))
    if (found.isFile()) entries.set(path, await readFile(join(folder, path)))
  }
  return entries
}

/** Bytes of inputs that stay in memory: bars of one minute for ten years are 250 MB. */
const MOST_BYTES = 2 ** 30

/** Does tasks of books on threads of this process, and processes for modules. */
export function createTaskComputer(options: ProcessOptions) {
  const threads = createThreads(options.threads)
  const folders: string[] = []
  const limited = pLimit(options.threads)
  type Input = { readonly value: unknown; readonly bytes: number }
  const inputs = new LRUCache<string, Input, { read: Read; convert: (value: never) => unknown }>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
    ignoreFetchAbort: true, // one that is evicted while it is read is still used
    fetchMethod: async (digest, _, { context: { read, convert } }) => {
      const packed = await read(digest)
      return { value: await convert(unpack<never>(packed)), bytes: packed.length }
    },
  })
  /** An input that tasks have in common; the same digest is always converted in the same way. */
  const load = async <Packed, Value>(
    digest: string,
    read: Read,
    convert: (value: Packed) => Value | Promise<Value>,
  ): Promise<Value> => (await inputs.forceFetch(digest, { context: { read, convert } })).value as Value
  /** Modules must be files. */
  const unfold = async (files: ReadonlyMap<string, Uint8Array | string>): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'highwater-modules-'))
    folders.push(folder)
    for (const [path, entry] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      if (typeof entry === 'string') await symlink(entry, join(folder, path))
      else await writeFile(join(folder, path), entry)
    }
    return folder
  }
  return {
    async compute(packed: Uint8Array, { read }: { readonly read: Read }): Promise<Made> {
      const { entry, bars, funding, benchmarks, modules, proof, ...rest } = unpack<ComputeInput>(packed)
      const folder = modules === null ? null : await load(modules, read, unfold)
      const task = {
        ...rest,
        entry: folder === null ? entry : withPath(entry, path => join(folder, path)),
        bars: bars === null ? null : await load(bars, read, toSharedBars),
        funding: funding === null ? null : await load(funding, read, (value: Funding) => value),
        benchmarks: await load(benchmarks, read, (value: readonly Benchmark[]) => value),
      }
      // In processes of its own, so that none has a later bar of any market, as in a build on one machine.
      const prove = async (folder: string) => {
        const processes = createProcesses(folder, { ...options, threads: 1 })
        const proving = runModules(processes, moduleTasks([task]), proof, () => {})
        return (await proving.finally(processes.close)).get(entry.id)
      }
      const own = folder === null ? undefined : await limited(() => prove(folder))
      return { bytes: pack(await runStrategy<ComputedStrategy>(threads, 'strategy', task, own)) }
    },
    async correlate(packed: Uint8Array, { read }: { readonly read: Read }): Promise<Made> {
      const { series: digest, ...rows } = unpack<CorrelateInput>(packed)
      const series = await load(digest, read, (all: readonly Series[]) =>
        all.map(each => ({ ...each, values: toShared(each.values) })),
      )
      return { bytes: pack(await threads.run<CorrelationRows>('correlation', { series, ...rows })) }
    },
    async close(): Promise<void> {
      await threads.close()
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Columns on memory that threads share. */
const toSharedBars = (bars: Bars): Bars => toBars(bars.timeframeMs, name => toShared(bars[name]))
