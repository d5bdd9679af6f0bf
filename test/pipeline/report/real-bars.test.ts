// Real bars have falls by half in a day and outages; nothing of it may keep them from being published.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkBars } from '#pipeline/report/bar-checks.ts'
import { compareLabels } from '#pipeline/report/label-checks.ts'
import { readBars } from '../../core/replay/real-bars.ts'
import { sharedData } from '../../support/shared-data.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.parse('2026-07-01T00:00:00Z')
const skip = sharedData === null ? ' (skipped: no real bars on this machine)' : ''

const read = (name: string) =>
  readBars(join(sharedData ?? '', `bars/${name}.csv.gz`), name.endsWith('1d') ? 24 * HOUR_MS : 4 * HOUR_MS)

describe.skipIf(sharedData === null)(`the data report of real bars${skip}`, () => {
  test.each([
    ['binance-perp_BTCUSDT_1d', []],
    ['binance-perp_BTCUSDT_4h', []],
    ['binance-spot_BTCUSDT_1d', []],
    ['binance-spot_BTCUSDT_4h', [['note', 'gaps', 16]]],
    ['cmc-yahoo_BTCUSD_1d', []],
  ])('of %s needs no acceptance', (name, expected) => {
    const found = checkBars(read(name), NOW_MS)
    expect(found.map(({ severity, code, count }) => [severity, code, count])).toEqual(expected)
  })

  test('finds that five sources agree on the time, and that a shifted one does not', () => {
    const perp = read('binance-perp_BTCUSDT_4h')
    const names = ['binance-perp_BTCUSDT_1d', 'binance-spot_BTCUSDT_1d', 'binance-spot_BTCUSDT_4h']
    for (const name of [...names, 'cmc-yahoo_BTCUSD_1d']) {
      expect(compareLabels(read(name), perp, 'perp'), name).toEqual([])
      const bars = read(name)
      const late = { ...bars, t: bars.t.map(t => t + bars.timeframeMs) }
      expect(compareLabels(late, perp, 'perp')[0]?.what, name).toContain('one bar earlier')
    }
  })
})
