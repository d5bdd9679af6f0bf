// Everything between a bar and a subscriber is killed at random instants: every acknowledged signal is in the log, and every
// client gets everything that is theirs, and nothing that was never fired.
import { expect, test } from 'vitest'
import { openKilledRunners } from '../support/signals/live-kills.ts'
import { openKillGround } from '../support/signals/signals-kills.ts'

/** `make soak` plays others. */
const SEEDS = [1, 2]

test('no acknowledged signal is lost, and every client gets exactly its own, if fires, deliveries and Redis are killed', async () => {
  const { play } = await openKillGround()
  for (const seed of SEEDS) expect(await play(seed), `seed ${seed}`).toBeGreaterThan(0)
})

test('a live runner that is killed at random and started again fires everything once', async () => {
  const play = await openKilledRunners()
  expect(await play(1)).toBe(2)
})
