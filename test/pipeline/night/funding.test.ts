import { expect, test } from 'vitest'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { aModule, catalogue, csv, dailyBars, FIRST_DAY, moduleText, nightOf } from './night-book.ts'

const DAYS = 30

/** The instants of payments at so many hours, without those of the second half for which `isLost` holds. */
function paid(hours: number, isLost: (payment: number) => boolean = () => false): string {
  const payments = Array.from({ length: (DAYS * 24) / hours }, (_, i) => i)
  const kept = payments.filter(i => i < payments.length / 2 || !isLost(i))
  return csv('t,rate', ...kept.map(i => `${toIsoInstant(FIRST_DAY * DAY_MS + i * hours * 3_600_000)},0`))
}

/** What is published of instruments with these feeds, of which the catalogue states something or nothing. */
async function publishedOf(
  feeds: Readonly<Record<string, string | null>>,
  stated: Readonly<Record<string, string>>,
) {
  const ids = Object.keys(feeds)
  const { snapshot } = await nightOf({
    ...Object.fromEntries(ids.map(id => [`bars/${id}/1d.csv`, dailyBars(Array<number>(DAYS).fill(100))])),
    ...Object.fromEntries(
      Object.entries(feeds).flatMap(([id, feed]) => (feed === null ? [] : [[`funding/${id}.csv`, feed]])),
    ),
    ...Object.fromEntries(ids.map(id => [`strategies/${id}.ts`, moduleText(id)])),
    'catalogue.yaml': catalogue(
      ids.map(id => ({ ...aModule(id), instrument: id })),
      {},
      stated,
    ),
  })
  return snapshot.strategies.map(({ id, verification_state, funding }) => ({
    ...snapshot.dataset.funding.find(({ instrument }) => instrument === id),
    state: verification_state,
    funding,
  }))
}

test('the published coverage of funding names its interval, and whether it is stated or inferred', async () => {
  const [stated, inferred, none] = await publishedOf(
    { stated: paid(8), inferred: paid(8), none: null },
    { stated: '8h', none: 'none' },
  )
  const whole = {
    state: 'dual_verified',
    funding: 'historical',
    intervals: [{ from: null, hours: 8 }],
    payments: 90,
    gaps: 0,
    payments_missing: 0,
  }
  expect(stated).toMatchObject({ ...whole, interval_basis: 'stated' })
  expect(inferred).toMatchObject({ ...whole, interval_basis: 'inferred' })
  expect(none).toMatchObject({
    state: 'dual_verified',
    funding: 'none',
    payments: 0,
    payments_missing: 0,
    interval_basis: null,
    intervals: [],
  })
})

test('the published coverage of funding has a gap for each second payment that is missing', async () => {
  const feed = paid(8, i => i % 2 === 1)
  const lacking = {
    state: 'single_verified',
    payments: 66,
    gaps: 21,
    longest_gap_hours: 16,
    payments_missing: 21,
  }
  expect(await publishedOf({ stated: feed, inferred: feed }, { stated: '8h' })).toMatchObject([
    lacking,
    lacking,
  ])
})
