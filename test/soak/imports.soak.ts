// Files in every declared format, changed on their way without end: `make soak PART=imports`, with MINUTES and SEED. The first file
// that is read as another thing than it was made from ends it, with the seed to replay it.
import { expect, test } from 'vitest'
import { playCase } from '../pipeline/import/round-trips.ts'
import { MINUTES, SEED, startProgress } from './soak.ts'

const CASES = 50_000

test(`at least ${CASES} files in all formats (from seed ${SEED}) are read as what they were made from, or refused, for ${MINUTES} minutes`, async () => {
  const progress = startProgress('imports')
  let [played, read] = [0, 0]
  for (; played < CASES || !progress.isOver(); played++) {
    const outcome = await playCase(SEED + played)
    expect(outcome.wrong, `seed ${SEED + played}: ${outcome.what}`).toBeNull()
    if (outcome.format !== null) read++
    if (played % 1000 === 0) progress.print(`${played} files, ${read} of them read`)
  }
})
