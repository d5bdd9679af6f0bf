import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Below the ports of outgoing connections on Linux (32 768 and up), of which one may be gone when a server is started on it. */
const FIRST_PORT = 15_000
const PORTS = 17_000

/** A machine on which so many draws in turn are taken has no free ports to speak of. */
const MOST_DRAWS = 100

/** A port of this machine that is free now, and that no outgoing connection will take. Rejects if there is none. */
export async function freePort(): Promise<number> {
  for (let draw = 1; ; draw++) {
    try {
      return await probe(FIRST_PORT + ((await probe(0)) % PORTS)) // the system gives everyone another one
    } catch (error) {
      if (draw === MOST_DRAWS) throw error
    }
  }
}

/** Listens for a moment, on any port if `requested` is 0, and returns the port. Rejects if it is not free. */
export async function probe(requested: number, host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(requested, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on TCP
  await once(server.close(), 'close')
  return port
}
