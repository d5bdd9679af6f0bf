// nginx while the pointer moves between two versions without end: `make soak`, with MINUTES. The first answer that is not
// of one version ends it, and so does a move that nginx does not follow.
import { inject, test } from 'vitest'
import { openSwitchGround } from '../support/history/nginx-switch.ts'
import { copyStores } from '../support/stores/stores.ts'
import { numberFrom } from './number-from.ts'

const MINUTES = numberFrom('MINUTES', 60)

test(`moves of the pointer for ${MINUTES} minutes`, async () => {
  const ground = await openSwitchGround(await copyStores(inject('tinyStore')), (MINUTES + 5) * 60_000)
  const began = performance.now()
  let moves = 0
  const print = (what: string, end: string) =>
    process.stderr.write(
      `nginx: ${moves} moves, ${what}${Math.round((performance.now() - began) / 1000)} s${end}`,
    )
  const seen = await ground.whileReading(async isOver => {
    while (!isOver() && performance.now() - began < MINUTES * 60_000) {
      await ground.move(moves++)
      print('', process.stderr.isTTY ? '\r' : '\n')
    }
  })
  const answers = [...seen.values()].reduce((sum, count) => sum + count, 0)
  print(`${answers} latest answers read, `, ': no violation\n')
})
