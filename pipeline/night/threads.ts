import { Tinypool } from 'tinypool'

export type Threads = ReturnType<typeof createThreads>

export function createThreads(count: number) {
  const worker = new URL('./worker.ts', import.meta.url)
  const pool = new Tinypool({ filename: worker.href, minThreads: 1, maxThreads: count })
  return {
    /** Runs the worker's function of this name, which returns `Result`. */
    run: <Result>(name: string, input: object): Promise<Result> => pool.run(input, { name }),
    close: () => pool.destroy(),
  }
}
