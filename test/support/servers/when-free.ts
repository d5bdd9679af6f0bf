import { vi } from 'vitest'

/**
 * Starts a server at a port that another test may have for a moment: one that looks for a free port tries it, and starts
 * a server there if nothing listens.
 */
export const whenFree = <Server>(start: () => Promise<Server>): Promise<Server> =>
  vi.waitFor(start, { timeout: 60_000, interval: 50 })
