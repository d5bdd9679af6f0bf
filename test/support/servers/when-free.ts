import { setTimeout as sleep } from 'node:timers/promises'

const MOST_TRIES = 600
const EVERY_MS = 50

/**
 * Starts a server at a port that another test may have for a moment: one that looks for a free port tries it, and starts
 * a server there if nothing listens. The benches use it too, so it needs no test runner.
 */
export async function whenFree<Server>(start: () => Promise<Server>): Promise<Server> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === MOST_TRIES) throw error
      await sleep(EVERY_MS)
    }
  }
}
