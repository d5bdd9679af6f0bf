import { Tinypool } from 'tinypool'

/** The threads of a build or a check. */
export type Threads = {
  /** Runs the worker's function of this name, which returns `Result`. */
  readonly run: <Result>(name: string, input: object) => Promise<Result>
  readonly close: () => Promise<void>
}

export function createThreads(count: number): Threads {
  const worker = new URL('./worker.ts', import.meta.url)
  const pool = new Tinypool({
    filename: worker.href,
    minThreads: 1,
    maxThreads: count,
    concurrentTasksPerWorker: 1,
  })
  return { run: (name, input) => pool.run(input, { name }), close: () => pool.destroy() }
}
