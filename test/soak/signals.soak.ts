// Hundreds of kills of everything between a fire and a subscriber, Redis among them: `make soak`, with KILLS, SEED and
// MINUTES. The first violation ends it with the seed to replay it.
import { test } from 'vitest'
import { openKillGround } from '../support/signals/signals-kills.ts'
import { numberFrom } from './number-from.ts'

const KILLS = numberFrom('KILLS', 300)
const MINUTES = numberFrom('MINUTES', 60)
const SEED = numberFrom('SEED', 20_261_121)

/** Rounds of one history: the whole of it is looked at after each. */
const ROUNDS_A_HISTORY = 50

test(`${KILLS} kills (seed ${SEED}) within ${MINUTES} minutes`, async () => {
  const began = performance.now()
  let [killed, rounds] = [0, 0]
  const print = (end: string) =>
    process.stderr.write(
      `signals: ${killed} of ${KILLS} kills, ${rounds} rounds, ` +
        `${Math.round((performance.now() - began) / 1000)} s (seed ${SEED})${end}`,
    )
  const isOver = () => killed >= KILLS || performance.now() - began > MINUTES * 60_000
  while (!isOver()) {
    const ground = await openKillGround()
    try {
      for (let i = 0; i < ROUNDS_A_HISTORY && !isOver(); i++) {
        const round = await ground.playRound(SEED + rounds)
        if (round.violations.length > 0) throw unsound(round.violations, SEED + rounds, SEED + rounds - i)
        killed += round.killed
        rounds++
        print(process.stderr.isTTY ? '\r' : '\n')
      }
    } finally {
      await ground.close()
    }
  }
  print(': no violation\n')
})

/** A history is replayed from its first round on. */
const unsound = (violations: readonly string[], seed: number, first: number): Error =>
  new Error(
    `the round of seed ${seed}: ${violations.join('; ')}\nreplay its history with: make soak SEED=${first} KILLS=${KILLS}`,
  )
