import { expect, test } from 'vitest'
import type { LocalServer } from '#cli/services/local-server.ts'
import { keepServer, RESTART_AFTER_MS, SOUND_MS } from '#cli/services/own-redis.ts'

/** Servers that end on request, with a clock that only the test moves. */
function scene(fails: (start: number) => boolean = () => false) {
  const running: { end: () => void; isStopped: boolean }[] = []
  const notes: string[] = []
  const paused: number[] = []
  let starts = 0
  let ms = 0
  const start = async (): Promise<LocalServer> => {
    if (fails(starts++)) throw new Error('no port')
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const one = { end: resolve, isStopped: false }
    running.push(one)
    const stop = (): Promise<void> => {
      one.isStopped = true
      resolve()
      return ended
    }
    return { url: 'redis://127.0.0.1:6390', pid: 1, stop, ended }
  }
  const runtime = { elapsed: () => ms, pause: async (waitMs: number) => void paused.push(waitMs) }
  const order = {
    start,
    log: '/data/redis.log',
    runtime,
    note: (line: string) => notes.push(line),
  }
  /** Ends the one that runs, and waits for what comes of it. */
  const kill = async (livedMs = 0): Promise<void> => {
    ms += livedMs
    running.at(-1)?.end()
    await new Promise(resolve => setImmediate(resolve))
  }
  return { order, running, notes, paused, kill, starts: () => starts }
}

test('a kept server is given up with a sentence after too many ends in a row', async () => {
  const { order, kill, paused, starts } = scene()
  const kept = await keepServer(order)
  for (let i = 0; i <= RESTART_AFTER_MS.length; i++) await kill()
  await expect(kept.failed).rejects.toThrow(/our Redis ended repeatedly.*fix what \/data\/redis\.log reports/)
  expect(paused).toEqual([...RESTART_AFTER_MS])
  expect(starts()).toBe(1 + RESTART_AFTER_MS.length)
  await kept.stop()
})

test('a kept server that ran for long has all of its starts again', async () => {
  const { order, kill, running } = scene()
  const kept = await keepServer(order)
  for (let i = 0; i < 3 * RESTART_AFTER_MS.length; i++) await kill(SOUND_MS)
  expect(running).toHaveLength(1 + 3 * RESTART_AFTER_MS.length)
  await kept.stop()
})

test('a kept server that is stopped while it starts again is stopped then', async () => {
  const { order, running, kill } = scene()
  const begun = Promise.withResolvers<void>()
  let isFirst = true
  const start = async (): Promise<LocalServer> => {
    if (!isFirst) await begun.promise
    isFirst = false
    return order.start()
  }
  const kept = await keepServer({ ...order, start })
  await kill()
  const stopped = kept.stop()
  begun.resolve()
  await stopped
  expect(running.map(({ isStopped }) => isStopped)).toEqual([true, true])
})
