// What the pages say of a strategy beside its figures: whether it is over, since when its rules are the same, what is gone.
import { expect, test } from 'vitest'
import type { Ancestor } from '#core/dataset/lineage.ts'
import { type HandStrategy, handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { pagesOf } from '#test/support/browser/rendered-pages.ts'

const V = '2024-05-01T00:15:00Z'

const ANCESTOR: Ancestor = {
  ...{
    version: V,
    entered: null,
    previous: '2024-04-01T00:15:00Z',
    added: [],
    removed: [],
    definitions: [],
    not_compared: [],
  },
  restated: [{ id: 'oak', daily: 2, weekly: 0, trades: 0, base_risk: false, module_version: false }],
  changed: [],
  declared: [
    { what: 'restate', of: 'oak', reason: 'wrong <prices>' },
    { what: 'same_rules', of: 'oak', reason: 'a comment' },
  ],
}
const REMOVED = {
  ...{ id: 'yew', name: 'Yew', on: '2024-05-01', reason: 'it lost', published_since: '2023-01-01T00:15:00Z' },
  days: 900,
}

const oak: HandStrategy = {
  ...{ id: 'oak', name: 'Oak', returns: [0.01, 0.02], published_since: V },
  ...{ module_version: '3', rules_sha256: 'abcdef0123456789ffff', rules_since: '2024-03-01T00:15:00Z' },
}
const elm: HandStrategy = { id: 'elm', returns: [0.01, 0.02] }

const textOf = (file: string, ...strategies: readonly HandStrategy[]): string =>
  pagesOf(handSnapshot(strategies, { lineage: [ANCESTOR], removed: [REMOVED] })).get(file)!()
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

test('a sheet has the date of the rules beside that of the history, and what was declared of both', () => {
  const text = textOf('strategies/oak/sheet.html', oak, elm)
  expect(text).toContain('Published since 1 May 2024 , in its present form')
  expect(text).toContain(
    'Rules declared the same since 1 March 2024 digest abcdef012345 ; files changed once version 3 of the module',
  )
  expect(text).toContain(`1 May 2024 : other files, declared the same rules. Reason: a comment`)
  expect(text).toContain(`1 May 2024 : 2 daily returns. Reason: wrong &lt;prices&gt;`)
  expect(textOf('strategies/elm/sheet.html', oak, elm)).toContain('Rules not known not made by a module here')
})

test('the list and the sheet show that a strategy is over, and why, or when it last traded', () => {
  const over = { ...oak, ended: { on: '2024-01-02', reason: 'the exchange closed' } }
  const idle = { ...elm, idle_since: '2024-01-01' }
  const list = textOf('index.html', over, idle)
  expect(list).toContain('Oak ended 2 January 2024')
  expect(list).toContain('elm last trade 1 January 2024')
  expect(textOf('strategies/oak/sheet.html', over, idle)).toContain(
    'Ended on 2 January 2024 . Reason: the exchange closed',
  )
  expect(textOf('strategies/elm/sheet.html', over, idle)).toContain(
    'Last trade 1 January 2024 ; the time since is',
  )
  expect(textOf('index.html', oak, elm)).not.toMatch(/ended \d|last trade \d/)
})

test('the page of the book has a line of every strategy that was removed, with the reason', () => {
  expect(textOf('index.html', oak)).toContain(
    'Yew (yew), 900 days, published since 1 January 2023, removed on 1 May 2024. Reason: it lost',
  )
})
