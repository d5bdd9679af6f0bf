import { createServer } from 'node:net'

/**
 * A port of this machine that nobody listens on now. One that is asked for by its number is given back where it is free;
 * rejects where it is not.
 */
export function freePort(asked = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(asked, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : asked))
    })
  })
}
