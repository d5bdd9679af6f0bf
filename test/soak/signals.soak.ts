// Kills of everything between a fire and a subscriber, Redis among them.
import { type KillGround, openKillGround } from '../support/signals/signals-kills.ts'
import { SEED, soak } from './soak.ts'

/** Rounds of one history: the whole of it is looked at after each. */
const ROUNDS_A_HISTORY = 50

async function openHistories() {
  let ground: KillGround | null = null
  return async (seed: number): Promise<number> => {
    if ((seed - SEED) % ROUNDS_A_HISTORY === 0) {
      await ground?.close()
      ground = await openKillGround()
    }
    return ground!.play(seed)
  }
}

soak('signals', openHistories, ROUNDS_A_HISTORY)
