import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../ends.ts'

/** Starts a server on a free port, to the end of the running test, and gives its address. */
export async function listenForTest(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  return `http://127.0.0.1:${port}`
}
