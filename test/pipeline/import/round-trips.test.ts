import { expect, test } from 'vitest'
import { BARS } from '#pipeline/import/bar-formats.ts'
import { RETURNS } from '#pipeline/import/returns.ts'
import { LIST_OF_TRADES, TRADES } from '#pipeline/import/trade-formats.ts'
import { playCase, playUnchanged } from './round-trips.ts'

const SEED = Number(process.env.SEED ?? 1)
const CASES = 1_000

test(`a file in every format as it is written is read, and the format is named (from seed ${SEED})`, async () => {
  const formats = [BARS, TRADES, LIST_OF_TRADES, RETURNS].flatMap(kind => kind.formats)
  const names = formats.map(({ name }) => [name, null])
  for (let seed = SEED; seed < SEED + 20; seed++) {
    const outcomes = await playUnchanged(seed)
    expect(outcomes.map(({ format, wrong }) => [format, wrong])).toEqual(names)
  }
})

test(`files in every format that were changed on their way are read as what they were made from, or refused (from seed ${SEED})`, async () => {
  let read = 0
  for (let seed = SEED; seed < SEED + CASES; seed++) {
    const outcome = await playCase(seed)
    if (outcome.format !== null) read++
    expect(outcome.wrong, `seed ${seed}: ${outcome.what}`).toBeNull()
  }
  expect(read).toBeGreaterThan(CASES / 4)
})
