import { expect, test } from 'vitest'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { strategyOf, wordAt } from '#core/dataset/snapshot.ts'
import {
  aModule,
  bookOf,
  catalogue,
  csv,
  dailyBars,
  dailyFunding,
  FIRST_DAY,
  moduleOf,
  moduleText,
  nightOf,
} from './night-book.ts'

const RISING = dailyBars([100, 100, 100, 101, 102, 103])

test('entries of a module that are over the leverage cap are a notice, and the night goes on', async () => {
  // Over the cap of 15: 0.02 of the equity over a stop at a thousandth.
  const greedy = moduleOf('greedy', {
    body: `onBar: (state, bar) => ({ act: 'long', stop: bar.c * 0.999 }),`,
  })
  const { snapshot, notices } = await nightOf(bookOf(RISING, [greedy, moduleOf('sound')]))
  expect(notices).toEqual(['greedy: entries refused because they were over the leverage cap: 6'])
  expect([...strategyOf(snapshot, 'greedy')!.daily.values]).toEqual([0, 0, 0, 0, 0, 0])
  expect(strategyOf(snapshot, 'greedy')!.refused_above_risk_pct).toBeCloseTo(0.015, 12)
  // Neither has a closed trade.
  for (const { verification_state, measured } of snapshot.strategies)
    expect([verification_state, measured?.trades_checked]).toEqual(['unverified', 0])
})

test('decisions of a module for the position that it has are counted in a notice', async () => {
  const keen = moduleOf('keen', { body: `onBar: (state, bar) => ({ act: 'long', stop: bar.c / 2 }),` })
  const { notices } = await nightOf(bookOf(RISING, [keen]))
  expect(notices).toEqual([
    expect.stringMatching(/^keen: decisions ignored because the position was already as they asked: 5; /),
  ])
})

test('the level of the first refusal is where the same module, replayed at that risk, is refused', async () => {
  const greedy = ([id, risk]: [string, number]) => {
    const onBar = `(state, bar, position) => position ? null : { act: 'long', stop: bar.c * 0.996 }`
    return moduleOf(id, { body: `baseRisk: ${risk}, onBar: ${onBar},` }, { base_risk_pct: risk })
  }
  const risks = Object.entries({ base: 0.02, below: 0.059, above: 0.061 })
  const { snapshot, notices } = await nightOf(bookOf(RISING, risks.map(greedy)))
  for (const { refused_above_risk_pct } of snapshot.strategies)
    expect(refused_above_risk_pct).toBeCloseTo(0.06, 12) // a leverage of 5 of the 15 that are allowed
  expect(notices).toEqual([expect.stringMatching(/^above: /)])
})

test('a module that is liquidated is published with the liquidation, and a notice', async () => {
  // The fourth bar opens at less than half: a long of ten times the account has lost more than all of it.
  const falling = csv(
    't,o,h,l,c,v',
    '2024-01-01T00:00:00Z,100,100,100,100,1',
    '2024-01-02T00:00:00Z,100,100,100,100,1',
    '2024-01-03T00:00:00Z,100,100,100,100,1',
    '2024-01-04T00:00:00Z,45,45,45,45,1',
    '2024-01-05T00:00:00Z,45,90,45,90,1',
  )
  const onBar = `(state, bar, position) => position ? null : { act: 'long', stop: bar.c * 0.99 }`
  const tenfold = moduleOf('bold', { body: `baseRisk: 0.1, onBar: ${onBar},` }, { base_risk_pct: 0.1 })
  const { snapshot, notices } = await nightOf(bookOf(falling, [tenfold]))
  const bold = strategyOf(snapshot, 'bold')!
  expect(notices).toEqual(['bold: the account was liquidated; its returns are 0 from that day'])
  expect([...bold.daily.values]).toEqual([0, 0, 0, -1, 0])
  expect(wordAt(bold.trades.exit_reason, 0)).toBe('liquidation')
  expect(bold.figures.values).toMatchObject({ net_return_pct: -100, max_drawdown_pct: -100 })
})

/** Holds a long for four days of five. */
const TRADES = {
  body: `onBar: (state, bar, position) => {
    if (bar.t % (5 * 86_400_000) === 0) return { act: 'flat', why: 'time' }
    return position === null ? { act: 'long', stop: bar.c / 2 } : null
  },`,
}

const DAYS = 30

/** The instants of payments at so many hours, without those of the second half for which `isLost` holds. */
function paid(hours: number, isLost: (payment: number) => boolean = () => false): string {
  const payments = Array.from({ length: (DAYS * 24) / hours }, (_, i) => i)
  const kept = payments.filter(i => i < payments.length / 2 || !isLost(i))
  return csv('t,rate', ...kept.map(i => `${toIsoInstant(FIRST_DAY * DAY_MS + i * hours * 3_600_000)},0`))
}

/** The night of instruments with these feeds, of which the catalogue states something or nothing. */
function nightOn(feeds: Readonly<Record<string, string | null>>, stated: Parameters<typeof catalogue>[2]) {
  const ids = Object.keys(feeds)
  const funding = Object.entries(feeds).flatMap(([id, feed]) =>
    feed === null ? [] : [[`funding/${id}.csv`, feed]],
  )
  return nightOf({
    ...Object.fromEntries(ids.map(id => [`bars/${id}/1d.csv`, dailyBars(Array<number>(DAYS).fill(100))])),
    ...Object.fromEntries(funding),
    ...Object.fromEntries(ids.map(id => [`strategies/${id}.ts`, moduleText(id, TRADES)])),
    'catalogue.yaml': catalogue(
      ids.map(id => ({ ...aModule(id), instrument: id })),
      {},
      stated,
    ),
  })
}

test('a module with positions where funding is unknown is single_verified, with a notice', async () => {
  const rows = dailyFunding(DAYS).trim().split('\n')
  const without = (from: number, to: number) => csv(...rows.filter((_, row) => row < from || row >= to))
  const feeds = { whole: dailyFunding(DAYS), gap: without(8, 14), late: without(1, 9) }
  const { snapshot, notices } = await nightOn(feeds, '24h')
  const states = snapshot.strategies.map(({ verification_state }) => verification_state)
  expect(states).toEqual(['dual_verified', 'single_verified', 'single_verified'])
  const sayingOf = (id: string) =>
    `${id}: single_verified, because % of the time of its positions is where the funding of ${id} is unknown, more than 1 %: `
  expect(notices.map(notice => notice.replace(/\d\S* (?=% of)/, ''))).toEqual(
    ['gap', 'late'].map(id => expect.stringMatching(`^${sayingOf(id)}`)),
  )
})

async function publishedOf(...asked: Parameters<typeof nightOn>) {
  const { snapshot } = await nightOn(...asked)
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
    ...{ state: 'dual_verified', funding: 'historical', intervals: [{ from: null, hours: 8 }] },
    ...{ payments: 90, gaps: 0, payments_missing: 0 },
  }
  expect(stated).toMatchObject({ ...whole, interval_basis: 'stated' })
  expect(inferred).toMatchObject({ ...whole, interval_basis: 'inferred' })
  expect(none).toMatchObject({
    ...{ state: 'dual_verified', funding: 'none', payments: 0, payments_missing: 0 },
    ...{ interval_basis: null, intervals: [] },
  })
})

test('the published coverage of funding has a gap for each second payment that is missing', async () => {
  const feed = paid(8, i => i % 2 === 1)
  const holes = { gaps: 21, longest_gap_hours: 16, payments_missing: 21 }
  const lacking = { state: 'single_verified', payments: 66, ...holes }
  const both = await publishedOf({ stated: feed, inferred: feed }, { stated: '8h' })
  expect(both).toMatchObject([lacking, lacking])
})
