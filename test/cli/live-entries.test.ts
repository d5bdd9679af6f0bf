import { expect, test } from 'vitest'
import { liveEntries } from '#cli/live.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { aModule, catalogue, dailyBars, moduleText } from '#test/pipeline/night/night-book.ts'
import { withFiles } from '#test/support/temporary-folder.ts'

test('the live runner leaves out a strategy that is over, and refuses it by name', async () => {
  const ended = { on: '2024-01-02', reason: 'the exchange closed' }
  const book = await withFiles(
    {
      'catalogue.yaml': catalogue([{ ...aModule('oak'), ended }, aModule('elm')]),
      'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102]),
      'strategies/oak.ts': moduleText('oak'),
      'strategies/elm.ts': moduleText('elm'),
    },
    readBook,
  )
  expect([...liveEntries(book, []).values()].flat().map(({ id }) => id)).toEqual(['elm'])
  expect(() => liveEntries(book, ['oak'])).toThrow("expected a module of the book (elm), got 'oak'")
  expect(
    liveEntries({ ...book, strategies: book.strategies.filter(({ id }) => id === 'oak') }, []).size,
  ).toBe(0)
})
