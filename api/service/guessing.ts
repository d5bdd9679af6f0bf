// Wrong tokens are delayed if they are too many for mistakes. The right one never is.
import { ApiError } from '#core/contract/errors.ts'
import { createAddressCounts } from '#signals/address-counts.ts'
import type { Clock } from './exchange.ts'

/** Wrong tokens in a minute that are answered at once: somebody who mistypes sends fewer. */
export const MOST_WRONG_TOKENS = 10

/** How long each further one waits for its answer. */
export const WRONG_TOKEN_DELAY_MS = 1_000

/** Wrong tokens that wait at a time: each holds a connection. Further ones are refused at once. */
export const MOST_WAITING_TOKENS = 16

type GuessParts = {
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<unknown>
  /** Called with the number of wrong tokens in this minute, if they are too many for mistakes. */
  readonly onGuessing?: (wrongTokens: number) => void
}

/** Call it for each wrong token; those of an address are counted together. Rejects with `rate_limited`, and `message`, if too many wait. */
export function createGuessDelay({ clock, pause, onGuessing }: GuessParts, message: string) {
  const add = createAddressCounts(60_000, clock.elapsed)
  let waiting = 0
  return async (address: string): Promise<void> => {
    const { consumedPoints: count } = add(address)
    if (count <= MOST_WRONG_TOKENS) return
    onGuessing?.(count)
    if (waiting >= MOST_WAITING_TOKENS)
      throw new ApiError('rate_limited', message, {
        headers: { 'retry-after': String(WRONG_TOKEN_DELAY_MS / 1_000) },
      })
    waiting++
    await pause(WRONG_TOKEN_DELAY_MS).finally(() => waiting--)
  }
}
