// What is rendered of a version: from no more than a part of the snapshot, on lanes.
import { expect, test } from 'vitest'
import { partOf } from '#core/dataset/part.ts'
import { decodeSnapshot, encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { publishedPoints, renderPoint, sidOf } from '#static-build/render-point.ts'
import { bookTasks, inLanes, type Renderer, type RenderOrder } from '#static-build/render-version.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { dailyFrom } from '#test/support/daily.ts'

/** More strategies than a sheet names, on two instruments, with ties, opposites and one that shares no day. */
const SNAPSHOT = handSnapshot(
  Array.from({ length: 18 }, (_, i) => ({
    id: `s${i}`,
    name: `Strategy <${i}>`,
    instrument: i % 2 === 0 ? 'BTC-PERP' : 'ETH-PERP',
    first: i === 17 ? '2020-01-01' : '2023-01-01',
    returns: Array.from(
      { length: i === 17 ? 40 : 90 },
      (_, day) => Math.sin(day * (1 + (i % 7))) / (i % 3 ? 90 : -90),
    ),
    trades: [{ entry_time: 1_672_700_000_000, exit_time: 1_672_900_000_000 + i, account_return: 0.01 }],
  })),
  {},
  ['BTC-PERP', 'ETH-PERP'].map((instrument, i) => ({
    instrument,
    daily: dailyFrom(
      19_358,
      Array.from({ length: 120 }, (_, day) => Math.cos(day + i) / 50),
    ),
  })),
)

const WHOLE = decodeSnapshot(encodeSnapshot(SNAPSHOT))

const POINTS = Map.groupBy(publishedPoints(WHOLE), sidOf)

test('a part is rendered to the same files and lines of the manifest as the whole snapshot', () => {
  for (const [position, { id }] of SNAPSHOT.strategies.entries()) {
    const part = structuredClone(partOf(SNAPSHOT, position))
    const points = publishedPoints(part).filter(point => sidOf(point) !== '')
    expect(points).toEqual(POINTS.get(id))
    expect(points.length).toBeGreaterThan(10)
    for (const point of points) {
      expect(renderPoint(part, point, 'quick')).toEqual(renderPoint(WHOLE, point, 'quick'))
    }
  }
})

test('answers that grow with the book are the large tasks, and each point of the book is one task', async () => {
  const points = POINTS.get('')!
  const order = { points: [...points, ...POINTS.get('s0')!], snapshot: WHOLE } as unknown as RenderOrder
  const renderer = { book: async ({ point }: { point: unknown }) => [point] } as unknown as Renderer
  const { large, small } = bookTasks(order, renderer)
  const pointsOf = async (tasks: typeof large) => (await Promise.all(tasks.map(task => task()))).flat()
  const [first, rest] = [await pointsOf(large), await pointsOf(small)]
  expect(new Set(first.map(point => ('id' in point ? point.id : '')))).toEqual(
    new Set(['export', 'correlation']),
  )
  expect(new Set([...first, ...rest])).toEqual(new Set(points))
  expect(first.length + rest.length).toBe(points.length)
})

test('a part names the twelve nearest strategies, the closest first, whatever the sign', () => {
  const { nearest } = partOf(SNAPSHOT, 0).others!
  expect(nearest).toHaveLength(12)
  const sizes = nearest.map(({ rho }) => Math.abs(rho))
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
  expect(new Set(nearest.map(({ rho }) => Math.sign(rho)))).toEqual(new Set([1, -1]))
  expect(partOf(SNAPSHOT, 17).others?.nearest).toEqual([])
})

test('tasks in lanes run once, in order, and never more at a time than there are lanes', async () => {
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

test('a task in lanes that fails starts nothing new, and its error is thrown when all running work has ended', async () => {
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

test('when several tasks in lanes fail, the error of the first in order is thrown, whichever failed first', async () => {
  const slow = Promise.withResolvers<void>()
  const running = inLanes(['a', 'b'], 2, async item => {
    if (item === 'a') await slow.promise
    else setImmediate(slow.resolve)
    throw new Error(`no room for ${item}`)
  })
  await expect(running).rejects.toThrow('no room for a')
})
