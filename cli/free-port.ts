import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Ports below those that Linux gives to outgoing connections (32 768 and up): one of those may be gone again by the time
 * that a server is started, or started again, on it.
 */
const FIRST_PORT = 15_000
const AFTER_LAST_PORT = 32_000

/** A machine on which so many draws in turn are taken has no free ports to speak of. */
const MOST_DRAWS = 100

/**
 * A port of this machine that nobody listens on now, and that no outgoing connection takes. One that is asked for by its
 * number is given back where it is free. Rejects where it is not, or where no port is free.
 */
export async function freePort(asked = 0): Promise<number> {
  if (asked !== 0) return probe(asked)
  for (let draw = 1; ; draw++) {
    try {
      return await probe(randomInt(FIRST_PORT, AFTER_LAST_PORT))
    } catch (error) {
      if (draw === MOST_DRAWS) throw error
    }
  }
}

const probe = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
  })
