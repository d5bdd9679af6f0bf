// `highwater preview`: the figures of a book beside the published ones, and the same answers on a local port.
import { appendFile, cp, readdir, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { runCommand } from '#cli/program.ts'
import { aLedger, aModule, catalogue, moduleText } from '#test/pipeline/night/night-book.ts'
import { lastingFolder, temporaryFolder } from '#test/support/temporary-folder.ts'
import { atEnd } from '../support/ends.ts'
import { madeUp } from './made-up.ts'
import { BOOK, openBook } from './own-book.ts'

const WITH_MODULE = {
  ...BOOK,
  'catalogue.yaml': catalogue([aLedger('ash'), aModule('oak')], {}, '24h'),
  'strategies/oak.ts': moduleText('oak'),
}
const FIVE_LONGS = moduleText('oak', {
  body: "onBar: (state, bar, position) => position === null ? { act: 'long', stop: bar.c * 0.95 } : null,",
})
const answer = z.object({ data: z.object({ strategies: z.array(z.object({ id: z.string() })) }) })

/** A published book. */
let published: string
beforeAll(async () => {
  published = await lastingFolder()
  expect(await (await openBook(WITH_MODULE, published)).build()).toMatchObject({ code: 0 })
})

/** A copy of the published book and a preview of it, which runs until `stop` is called. */
async function aPreview(...args: readonly string[]) {
  const cwd = await temporaryFolder()
  await cp(published, cwd, { recursive: true, preserveTimestamps: true })
  const { stores, change } = await openBook({}, cwd)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const { runtime, out, err } = madeUp({ cwd, untilStopped: () => stopped })
  const ended = runCommand(['preview', '--book', 'book', '--store', stores.url, ...args], runtime)
  atEnd(async () => {
    stop()
    await ended
  })
  const get = async () => {
    const [, url] = /the same answers on (\S+),/.exec(out()) ?? []
    return answer.parse(await (await fetch(`${url}/v1/dataset`)).json()).data
  }
  const end = async () => {
    stop()
    return ended
  }
  return { cwd, change, out, err, get, end }
}

const linesOf = (text: string, id: string): string[] =>
  text
    .split('\n')
    .filter(line => line.startsWith(`${id} `))
    .map(line => line.replaceAll(/ +/g, ' '))

const openPreviews = async () =>
  (await readdir(tmpdir())).filter(name => name.startsWith('highwater-preview-'))

test('a preview shows every strategy, serves it, and leaves nothing behind', async () => {
  vi.stubEnv('TMPDIR', await temporaryFolder()) // other tests run previews too
  atEnd(() => vi.unstubAllEnvs())
  const { cwd, out, get, end } = await aPreview()
  await expect.poll(out).toContain('the same answers on ')
  expect(await openPreviews()).toHaveLength(1)
  expect(out()).toContain('published 2024-01-15T06:00:00Z -> now')
  expect(linesOf(out(), 'ash')[0]).toMatch(/^ash 3\.00 /)
  expect((await get()).strategies.map(({ id }) => id)).toEqual(['ash', 'oak'])
  expect(await end()).toBe(0)
  expect(await openPreviews()).toEqual([])
  expect((await readdir(cwd)).sort()).toEqual(['book', 'store', 'store.private'])
})

test('a preview of one strategy shows a changed module at each change of the book, replaced as editors do, or appended to', async () => {
  const { change, cwd, out, err, get, end } = await aPreview('--watch', 'oak')
  await expect.poll(out).toContain('the same answers on ')
  expect(linesOf(out(), 'ash')).toEqual([])
  expect(linesOf(out(), 'oak')[0]).not.toContain('->')
  expect((await get()).strategies.map(({ id }) => id)).toEqual(['oak'])

  await change({ 'strategies/oak.ts': 'export const strategy = 1' })
  await expect.poll(err).toContain('strategies/oak.ts')
  const file = join(cwd, 'book/strategies/oak.ts')
  const saves = [
    async () => {
      await change({ 'oak.saved': FIVE_LONGS })
      await rename(join(cwd, 'book/oak.saved'), file)
    },
    () => appendFile(file, '// appended\n'), // to the file that came by a rename
  ]
  for (const save of saves) {
    const shown = linesOf(out(), 'oak').length
    await save()
    await expect.poll(() => linesOf(out(), 'oak').length).toBeGreaterThan(shown)
    expect(linesOf(out(), 'oak').at(-1)).toContain(' -> ')
  }
  expect(await end()).toBe(0)
})

test('a preview of a strategy that is not in the book is wrong usage', async () => {
  const { err, end } = await aPreview('elm')
  expect(await end()).toBe(2)
  expect(err()).toContain("the book has no strategy 'elm'; it has ash, oak")
})
