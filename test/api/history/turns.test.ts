import { expect, test } from 'vitest'
import { createTurns } from '#api/history/turns.ts'

/** Works that end when they are told to, and the names of those that have begun. */
function createWorks(most: number) {
  const takeTurn = createTurns(most)
  const begun: string[] = []
  const ask = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const done = takeTurn(() => {
      begun.push(name)
      return promise
    })
    return { done, end: () => resolve(name), fail: () => reject(new Error(name)) }
  }
  return { begun, ask }
}

test('so many works are done at the same time, and the others in their order, each after one that ended', async () => {
  const { begun, ask } = createWorks(2)
  const [a, b, c, d] = [ask('a'), ask('b'), ask('c'), ask('d')]
  expect(begun).toEqual(['a', 'b'])
  b.end()
  expect(await b.done).toBe('b')
  expect(begun).toEqual(['a', 'b', 'c'])
  for (const work of [a, c, d]) work.end()
  expect(await Promise.all([a.done, c.done, d.done])).toEqual(['a', 'c', 'd'])
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('a work that fails gives its place to the next, and a free place is taken at once', async () => {
  const { begun, ask } = createWorks(1)
  const [a, b] = [ask('a'), ask('b')]
  a.fail()
  await expect(a.done).rejects.toThrow('a')
  expect(begun).toEqual(['a', 'b'])
  b.end()
  await b.done
  ask('c').end()
  expect(begun).toEqual(['a', 'b', 'c'])
})
