import { expect, test } from 'vitest'
import { openKilledSealers } from '../support/signals/sealer-kills.ts'

test('two sealers at once that are killed twenty times leave one chain without a hole, of which every seal is opened', async () => {
  const play = await openKilledSealers()
  let killed = 0
  for (let seed = 1; killed < 20; seed++) killed += await play(seed)
  expect(killed).toBe(20)
})
