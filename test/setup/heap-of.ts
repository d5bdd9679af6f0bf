// The heap of another process after a collection, asked of its inspector.
import { join } from 'node:path'
import { z } from 'zod'
import { type Running, startProcess } from './highwater-process.ts'

const COMMAND = join(import.meta.dirname, '../../cli/highwater.ts')

/** Starts `highwater ...args` so that its heap can be looked at. */
export const startInspected = (args: readonly string[], env: Readonly<Record<string, string>>): Running =>
  startProcess(process.execPath, ['--inspect=127.0.0.1:0', COMMAND, ...args], { env })

const usage = z.object({ id: z.literal(2), result: z.object({ usedSize: z.number() }) })

/** Bytes that its objects take once all that nobody needs is gone. */
export async function collectedHeapBytes(running: Running): Promise<number> {
  const [, url = ''] = await running.prints(/^Debugger listening on (ws:\S+)$/m)
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
        if (told.success) resolve(told.data.result.usedSize)
      }
    })
  } finally {
    socket.close()
  }
}
