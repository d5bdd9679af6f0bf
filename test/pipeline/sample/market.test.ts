import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, toEpochDay } from '#core/calendar.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { BAR_MS, createMarket, type Market } from '#pipeline/sample/market.ts'

const FROM = Date.UTC(2018, 0, 1)
const DAYS = 400

/** The law holds for the market of any seed; a failure prints the seed. */
const laws = (law: (market: Market) => void) =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), seed => {
      law(createMarket(seed, FROM, FROM + DAYS * DAY_MS))
    }),
    { numRuns: 30 },
  )

describe('laws of every synthetic market', () => {
  test('its bars are ones that a book may have, on the tick grid', () => {
    const isSound = ({ t, o, h, l, c, v }: Bar) =>
      (t - FROM) % BAR_MS === 0 && l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h && v >= 0
    const isOnGrid = ({ o, h, l, c }: Bar) => [o, h, l, c].every(price => Number(price.toFixed(1)) === price)
    laws(({ bars }) => expect(bars.filter(bar => !isSound(bar) || !isOnGrid(bar))).toEqual([]))
  })

  test('a bar opens where the one before it closed, unless there was an outage', () => {
    laws(({ bars }) => {
      const broken = bars.filter(
        (bar, i) => i > 0 && bar.t - bars[i - 1]!.t === BAR_MS && bar.o !== bars[i - 1]!.c,
      )
      expect(broken).toEqual([])
    })
  })

  test('its outages are shorter than a day, and its ends are whole', () => {
    laws(({ bars }) => {
      expect(new Set(bars.map(({ t }) => toEpochDay(t))).size).toBe(DAYS)
      expect(bars[0]?.t).toBe(FROM)
      expect(bars.at(-1)?.t).toBe(FROM + DAYS * DAY_MS - BAR_MS)
    })
  })

  test('its funding comes every eight hours, outage or not, at a rate that an exchange could charge', () => {
    laws(({ funding }) => {
      expect(funding.map(({ t }) => t)).toEqual(
        Array.from({ length: DAYS * 3 }, (_, i) => FROM + i * 2 * BAR_MS),
      )
      expect(Math.max(...funding.map(({ rate }) => Math.abs(rate)))).toBeLessThanOrEqual(0.003)
    })
  })
})

test('the same seed gives the same market', () => {
  expect(createMarket(5, FROM, FROM + DAY_MS)).toEqual(createMarket(5, FROM, FROM + DAY_MS))
})
