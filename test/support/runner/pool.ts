// In place of tinypool for the modules under test: a pool of one thread works in this process, which has the code of the tasks loaded.
// To start a thread costs more than a small book does. Several threads are real, and so are those of every process that a test starts.
import { setImmediate } from 'node:timers/promises'
import { isTransferable, kValue, Tinypool as Threads } from '../../../node_modules/tinypool/dist/index.js'

export * from '../../../node_modules/tinypool/dist/index.js'

type Options = { readonly filename: string; readonly maxThreads: number }

let pools = 0

/** Runs tasks one after another. What goes in and what comes out are copies, as between threads. */
function createOneThread({ filename }: Options) {
  const own = `${filename}?pool=${++pools}` // a thread keeps what it read until its pool ends
  let last: Promise<unknown> = Promise.resolve()
  const work = async (task: unknown, name: string): Promise<unknown> => {
    await setImmediate()
    const tasks = await import(own)
    try {
      const result = await tasks[name](structuredClone(task))
      return structuredClone(isTransferable(result) ? result[kValue] : result)
    } catch (error) {
      throw structuredClone(error)
    }
  }
  const run = (task: unknown, { name }: { readonly name: string }): Promise<unknown> => {
    const ended = last.then(() => work(task, name))
    last = ended.catch(() => {})
    return ended
  }
  return { run, destroy: () => last.then(() => {}) }
}

export const Tinypool = new Proxy(Threads, {
  construct: (threads, [options]: [Options]) =>
    options.maxThreads === 1 ? createOneThread(options) : new threads(options),
})
