import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { probe } from '#cli/services/free-port.ts'
import { atEnd } from '../ends.ts'

/** Below the ports that `freePort` gives to processes, which know nothing of the reservation. */
const FIRST_PORT = 11_000
const PORTS = 4_000

let drawn = process.pid % PORTS

/**
 * A free port that no other test of this machine gets before the running test ends, or the file if no test runs: the UDP port
 * of the same number is held for as long. A port that is only looked at may be taken before a server listens on it.
 */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (drawn++ % PORTS)
    const release = await hold(port)
    if (release === null) continue
    atEnd(release)
    if (await probe(port).catch(() => null)) return port
  }
}

/** Holds the UDP port of a number until it is released; null if it is taken. */
function hold(port: number): Promise<(() => void) | null> {
  const socket = createSocket('udp4')
  return new Promise(resolve => {
    socket.once('error', () => resolve(null))
    socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => resolve(() => socket.close()))
  })
}

/** Listens with a server on a free port, or on this one, to the end of the running test; gives the port. */
export async function listenOn(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => void server.close())
  return (server.address() as AddressInfo).port // of TCP
}
