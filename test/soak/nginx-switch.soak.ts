// nginx while the pointer moves between two versions without end: `make soak`, with MINUTES. The first answer that is not
// of one version ends it, and so does a move that nginx does not follow.
import { inject, test } from 'vitest'
import { openSwitchGround } from '../support/history/nginx-switch.ts'
import { copyStores } from '../support/stores/stores.ts'
import { MINUTES, startProgress } from './soak.ts'

test(`nginx follows moves of the pointer for ${MINUTES} minutes, and every answer is of one version`, async () => {
  const ground = await openSwitchGround(await copyStores(inject('tinyStore')), (MINUTES + 5) * 60_000)
  const progress = startProgress('nginx')
  let moves = 0
  const seen = await ground.whileReading(async isOver => {
    while (!isOver() && !progress.isOver()) {
      await ground.move(moves++)
      progress.print(`${moves} moves`)
    }
  })
  const answers = [...seen.values()].reduce((sum, count) => sum + count, 0)
  progress.print(`${moves} moves, ${answers} latest answers read`)
})
