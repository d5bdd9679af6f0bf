import { expect, test } from 'vitest'
import { inLanes } from '#static-build/render-version.ts'

test('everything is run once, in order, and never more at a time than there are lanes', async () => {
  const items = Array.from({ length: 20 }, (_, i) => i)
  const begun: number[] = []
  let [running, most] = [0, 0]
  const results = await inLanes(items, 3, async item => {
    begun.push(item)
    most = Math.max(most, ++running)
    for (let turns = item % 4; turns >= 0; turns--) await Promise.resolve()
    running--
    return item * 2
  })
  expect([begun, most]).toEqual([items, 3])
  expect(results.sort((a, b) => a - b)).toEqual(items.map(item => item * 2))
})

test('after a failure nothing new is started, and it is thrown when all running work has ended', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const slow = Promise.withResolvers<void>()
  const running = inLanes([0, 1, 2, 3, 4], 2, async item => {
    begun.push(item)
    if (item === 1) {
      setImmediate(slow.resolve)
      throw new Error('the disk is full')
    }
    await slow.promise
    ended.push(item)
  })
  await expect(running).rejects.toThrow('the disk is full')
  expect([begun, ended]).toEqual([[0, 1], [0]])
})
