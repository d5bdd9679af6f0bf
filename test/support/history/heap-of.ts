// The memory of another process after a collection, asked of its inspector.
import { join } from 'node:path'
import { z } from 'zod'
import { type Running, type StartOptions, startProcess } from './highwater-process.ts'

const COMMAND = join(import.meta.dirname, '../../../cli/highwater.ts')

/** Starts `highwater ...args` so that its memory can be looked at. */
export const startInspected = (args: readonly string[], options: StartOptions): Running =>
  startProcess(process.execPath, ['--inspect=127.0.0.1:0', COMMAND, ...args], options)

/** Bodies and caches are `backingStorageSize`: an ArrayBuffer is a small object, and its bytes are outside of the heap. */
const usage = z.object({
  id: z.literal(2),
  result: z.object({ usedSize: z.number(), backingStorageSize: z.number() }),
})

/** Where its inspector listens. */
export async function inspectorOf(running: Running): Promise<string> {
  const [, url = ''] = await running.prints(/^Debugger listening on (ws:\S+)$/m)
  return url
}

/** Bytes that its objects and buffers take once all that nobody needs is gone, as the inspector at `url` tells. */
export async function collectedHeapBytes(url: string): Promise<number> {
  const socket = new WebSocket(url)
  try {
    return await new Promise<number>((resolve, reject) => {
      socket.onerror = () => reject(new Error(`the inspector at ${url} does not answer`))
      socket.onopen = () => {
        socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}')
        socket.send('{"id":2,"method":"Runtime.getHeapUsage"}')
      }
      socket.onmessage = ({ data }) => {
        const told = usage.safeParse(JSON.parse(String(data)))
        if (told.success) resolve(told.data.result.usedSize + told.data.result.backingStorageSize)
      }
    })
  } finally {
    socket.close()
  }
}
