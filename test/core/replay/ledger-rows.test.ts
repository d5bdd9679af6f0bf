import { expect, test } from 'vitest'
import { flatDay, mark, slot, trade } from './hand.ts'

const bars = flatDay(100)
test.each([
  ['an entry price of 0', { entry_price: 0 }, 'entry_price must be a price above 0, it is 0'],
  ['an exit price below 0', { exit_price: -1 }, 'exit_price must be a price above 0, it is -1'],
  ['an exit before the entry', { exit_time: slot(0) }, 'exits at 2020-01-01T00:00:00Z, before its entry'],
  ['an exit time without a price', { exit_price: null }, 'both exit_time and exit_price'],
  ['a fraction of a millisecond', { entry_time: slot(1) + 0.5 }, 'whole milliseconds'],
  ['an exit time that is none', { exit_time: Number.NaN }, 'whole milliseconds'],
  ['a leverage of 0', { leverage: 0 }, 'leverage has the impossible value 0'],
  ['a stop that is no number', { stop: Number.NaN }, 'stop has the impossible value NaN'],
  [
    'a return that is no number',
    { account_return: Number.NaN },
    'account_return has the impossible value NaN',
  ],
  ['an entry before the first bar', { entry_time: slot(-1) }, 'before the first bar at 2020-01-01T00:00:00Z'],
  ['none of leverage, stop and account return', {}, 'has neither leverage, stop nor account_return'],
  [
    'a stop from which no leverage follows',
    { stop: 99.99 },
    'above the cap of 15; give leverage or account_return',
  ],
])('a row of a ledger with %s is refused by its number', (_, change, sentence) => {
  const good = trade({ leverage: 1, entry_time: slot(4), exit_time: slot(5) })
  const refuse = () => mark([good, trade({ ...change })], { bars })
  expect(refuse).toThrow('strategy alder: trade 1 of the ledger')
  expect(refuse).toThrow(sentence)
})
