import { expect, test } from 'vitest'
import { madeOnce } from '#api/http/made-once.ts'

test('what is made once is made when it is first asked for, and shared', async () => {
  let count = 0
  const ask = madeOnce(async () => ++count)
  expect(count).toBe(0)
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1])
  expect(await ask()).toBe(1)
})

test('what could not be made is tried again by the next who asks', async () => {
  let tries = 0
  const ask = madeOnce(async () => {
    if (++tries === 1) throw new Error('no file may be opened')
    return tries
  })
  await expect(Promise.all([ask(), ask()])).rejects.toThrow('no file may be opened')
  expect(await ask()).toBe(2)
})
