import { expect, test } from 'vitest'
import { playCase } from './round-trips.ts'

const SEED = Number(process.env.SEED ?? 1)
const CASES = 2_000

test(`files in every format that were changed on their way are read as what they were made from, or refused (from seed ${SEED})`, async () => {
  let read = 0
  for (let seed = SEED; seed < SEED + CASES; seed++) {
    const outcome = await playCase(seed)
    if (outcome.read) read++
    expect(outcome.wrong, `seed ${seed}: ${outcome.what}`).toBeNull()
  }
  expect(read).toBeGreaterThan(CASES / 4)
})
