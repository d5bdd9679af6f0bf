import type { Server } from 'node:http'
import { atEnd } from '../ends.ts'
import { listenOn } from '../servers/own-port.ts'

/** Starts a server on a free port, to the end of the running test, and gives its address. */
export async function listenForTest(server: Server): Promise<string> {
  const port = await listenOn(server)
  atEnd(() => server.closeAllConnections())
  return `http://127.0.0.1:${port}`
}
