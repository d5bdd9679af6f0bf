// Every file of bars as exchanges and tools write it, defects included.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedData } from '../../support/shared-data.ts'
import { importing } from '../import/bars-from-elsewhere.ts'

const skip = sharedData === null ? ' (skipped: no real bars on this machine)' : ''
const folder = sharedData ?? ''

/** By the beginning of a name: format, timeframe, bars, and what is found. */
const EXPECTED: Readonly<
  Record<string, readonly [string, string, number, Readonly<Record<string, number>>]>
> = {
  'binance-perp_BTCUSDT_1d': ['epochs-and-dates', '1d', 2478, { last_bar: 1 }],
  'binance-perp_BTCUSDT_4h': ['epochs-and-dates', '4h', 14_864, { last_bar: 1 }],
  'binance-spot_BTCUSDT_1d': ['epochs-and-dates', '1d', 3229, { last_bar: 1 }],
  'binance-spot_BTCUSDT_4h': ['epochs-and-dates', '4h', 19_359, { last_bar: 1, gaps: 16 }],
  'cmc-yahoo_BTCUSD_1d': ['epochs-and-dates', '1d', 4765, { last_bar: 1 }],
  'binance-dump_BTCUSDT-1h-2024-12': ['binance', '1h', 744, {}],
  'binance-dump_BTCUSDT-1h-2025-01': ['binance', '1h', 744, {}],
  bitvavo: ['bitvavo', '1d', 1096, { last_bar: 1 }],
  cdd: [
    'cryptodatadownload',
    '1d',
    2822,
    { swapped_volume: 1180, banner: 1, newest_first: 2822, unfinished: 1, stated: 1 },
  ],
  'freqtrade-json': ['ccxt/freqtrade/bitvavo', '1d', 1880, { unfinished: 1, stated: 1 }],
  kraken: ['kraken', '1d', 2722, { last_bar: 1, gaps: 12 }],
  yahoo: ['yahoo/freqtrade', '1d', 4324, { impossible: 24, sorted: 2, last_bar: 1, gaps: 33, stated: 1 }],
  'yfinance-multiheader': ['yfinance', '1d', 1827, { last_bar: 1, stated: 1 }],
}

/** What the operator has to state: the zone of dates, that the last bar is unfinished, that wrong bars may go. */
const RULES = {
  cdd: { drop_last: true },
  'freqtrade-json': { drop_last: true },
  yahoo: { tz: 'UTC', drop_impossible: true },
  'yfinance-multiheader': { tz: 'UTC' },
} as const

test.skipIf(sharedData === null)(
  `every file of real bars is read, and what was found in it is counted${skip}`,
  async () => {
    const files = ['bars', 'bars-messy'].flatMap(parent =>
      readdirSync(join(folder, parent)).map(name => ({ file: join(parent, name), name })),
    )
    expect(files).toHaveLength(Object.keys(EXPECTED).length)
    for (const { file, name } of files) {
      const key = Object.keys(EXPECTED).find(each => name.startsWith(each)) ?? ''
      const { imported, problems } = await importing(folder, [file], RULES[key as keyof typeof RULES])
      const found = Object.fromEntries((imported?.findings ?? []).map(({ kind, count }) => [kind, count]))
      expect([file, problems]).toEqual([file, []])
      expect([imported?.formats[0], imported?.timeframe, imported?.bars.t.length, found]).toEqual(
        EXPECTED[key],
      )
    }
  },
)
