import { describe, expect, test } from 'vitest'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { aModule, catalogue, csv, dailyBars, FIRST_DAY, moduleText, nightOf } from './night-book.ts'

const DAYS = 30

/** The instants of payments at so many hours, without those of the second half for which `isLost` holds. */
function paid(hours: number, isLost: (payment: number) => boolean = () => false): string {
  const payments = Array.from({ length: (DAYS * 24) / hours }, (_, i) => i)
  const kept = payments.filter(i => i < payments.length / 2 || !isLost(i))
  return csv('t,rate', ...kept.map(i => `${toIsoInstant(FIRST_DAY * DAY_MS + i * hours * 3_600_000)},0`))
}

async function publishedOf(feed: string | null, statement: string | null) {
  const { snapshot } = await nightOf({
    'bars/BTCUSDT-PERP/1d.csv': dailyBars(Array<number>(DAYS).fill(100)),
    ...(feed === null ? {} : { 'funding/BTCUSDT-PERP.csv': feed }),
    'strategies/oak.ts': moduleText('oak'),
    'catalogue.yaml': catalogue([aModule('oak')], {}, statement),
  })
  const [coverage] = snapshot.dataset.funding
  const [oak] = snapshot.strategies
  return { state: oak?.verification_state, funding: oak?.funding, ...coverage }
}

describe('the coverage of funding that is published', () => {
  test.each([
    ['8h', 'stated'],
    [null, 'inferred'],
  ] as const)('names the interval %s, and that it is %s', async (statement, basis) => {
    expect(await publishedOf(paid(8), statement)).toMatchObject({
      state: 'dual_verified',
      funding: 'historical',
      interval_basis: basis,
      intervals: [{ from: null, hours: 8 }],
      payments: 90,
      gaps: 0,
      payments_missing: 0,
    })
  })

  test('has nothing of an instrument of which none is stated', async () => {
    expect(await publishedOf(null, 'none')).toMatchObject({
      state: 'dual_verified',
      funding: 'none',
      payments: 0,
      payments_missing: 0,
      interval_basis: null,
      intervals: [],
    })
  })

  test.each(['8h', null])(
    'has a gap for each second payment that is missing, interval %s',
    async statement => {
      expect(
        await publishedOf(
          paid(8, i => i % 2 === 1),
          statement,
        ),
      ).toMatchObject({
        state: 'single_verified',
        payments: 66,
        gaps: 21,
        longest_gap_hours: 16,
        payments_missing: 21,
      })
    },
  )
})
