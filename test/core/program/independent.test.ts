import { expect, test } from 'vitest'
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import { benchmarks, cheapestQuartileShare } from '#core/program/benchmarks.ts'
import { prepareProgram, rollingFigures } from '#core/program/prepare-program.ts'
import type { ProgramPlan, Tier } from '#core/program/program.ts'
import { averageCost, simulate } from '#core/program/simulate.ts'
import { type Bars, sliceBars } from '#core/replay/bars.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { NO_SHARED_DATA } from '../../support/shared-data.ts'
import { arbitraryProgram, barsOf, planOf, realDays } from './programs.ts'

const EQUITY = 25_000

/** Every figure of the product and of the loops by hand, in the same shape. */
function bothWays(plan: ProgramPlan, bars: Bars, cadence: number) {
  const data = prepareProgram(plan, bars)
  const simulation = simulate(data, cadence)
  const hand = runByHand(plan, bars, EQUITY, cadence)
  return {
    ours: {
      ...benchmarks(data, cadence),
      average: averageCost(simulation.totals),
      quartile: cheapestQuartileShare(data, simulation.deployments),
      accounts: simulation.tiers.map(({ contributed, deployed, reserve, btc }) =>
        [contributed, deployed, reserve, btc].map(part => part * EQUITY),
      ),
      bought: simulation.deployments.map(({ bar, spend, btc }) => [bar, spend * EQUITY, btc * EQUITY]),
      buyers: simulation.deployments.map(({ tier }) => tier),
    },
    hand: {
      ...hand,
      accounts: hand.accounts.map(({ contributed, spent, cash, btc }) => [contributed, spent, cash, btc]),
      bought: hand.bought.map(({ bar, usd, btc }) => [bar, usd, btc]),
      buyers: hand.bought.map(({ tier }) => tier),
    },
  }
}

const expectAgreement = ({ ours, hand }: ReturnType<typeof bothWays>) =>
  expect(ours).toEqual(near(hand, 1e-9, 1e-3))

test('the program agrees on every figure of random programs with an independent computation', () => {
  forAll(80, arbitraryProgram, ({ plan, bars, cadence }) => {
    expectAgreement(bothWays(plan, bars, cadence))
  })
})

function rollBothWays(plan: ProgramPlan, bars: Bars) {
  const hand = rollByHand(plan, bars)
  const rolling = rollingFigures(plan, bars)
  expect(rolling?.windows).toBe(hand.windows)
  expect(rolling?.win_rate).toBeCloseTo(hand.wins / hand.windows, 12)
  expect(rolling?.median_cheaper).toBeCloseTo(hand.median, 9)
  return hand
}

test.each([
  ['days', 588, DAY_MS],
  ['half days', 2 * 588, DAY_MS / 2],
])('an independent computation agrees on rolling years of %s', (_, length, timeframeMs) => {
  const wave = (i: number) => Math.round(400 * (2 + Math.sin(i / 37) + Math.sin(i / 5) / 3)) / 4
  const bars = barsOf(
    Array.from({ length }, (_, i) => wave(i)),
    timeframeMs,
  )
  const { windows, wins } = rollBothWays(planOf(30, { paused: [{ from: 0, to: null }] }), bars)
  expect(windows).toBe(24)
  expect(wins).toBeGreaterThan(0)
})

test('the program agrees on the rolling years of real bars with an independent computation', ({ skip }) => {
  if (realDays === null) return skip(NO_SHARED_DATA)
  rollBothWays(planOf(1), sliceBars(realDays, 900, 1480))
})

const window = (from: string, to: string) => ({ from: parseIsoDate(from)!, to: parseIsoDate(to)! })

test.for([
  ['2019-01-01', '2028-12-31', 7],
  // The history begins here, so there is no warm-up.
  ['2017-08-17', '2019-12-31', 1],
] as const)(
  'an independent computation agrees on real bars from %s to %s, a contribution every %i days',
  ([from, to, cadence], { skip }) => {
    if (realDays === null) return skip(NO_SHARED_DATA)
    const paused = [window('2020-03-01', '2020-04-15')]
    expectAgreement(bothWays(planOf(1, { window: window(from, to), paused }), realDays, cadence))
  },
)

// The program a second time, from the definitions in docs/program.md alone: day by day over all tiers, in dollars, every
// mean and every high computed again. Slow, plain, and without any code of the product except its types.

const DAY = 86_400_000

type Bought = { bar: number; tier: string; usd: number; btc: number }

type Account = { tier: string; contributed: number; spent: number; cash: number; btc: number }

type Outcome = {
  accounts: Account[]
  bought: Bought[]
  average: number | null
  dca: number | null
  vwap: number | null
  lump_sum: number | null
  hodl: number | null
  quartile: number | null
}

/** The whole history in; the window is found by its dates. */
function runByHand(plan: ProgramPlan, bars: Bars, equity: number, cadence: number): Outcome {
  const inWindow: number[] = []
  const begin = plan.window.from * DAY
  const end = (plan.window.to + 1) * DAY
  for (let i = 0; i < bars.t.length; i++) if (bars.t[i]! >= begin && bars.t[i]! < end) inWindow.push(i)
  const planned = (end - begin) / bars.timeframeMs
  return runBars(plan, bars, inWindow, planned, equity, cadence)
}

/** The years that begin on every day with 200 days before it: how often below dca, and the median difference. */
function rollByHand(plan: ProgramPlan, bars: Bars): { windows: number; wins: number; median: number } {
  const day = DAY / bars.timeframeMs
  const differences: number[] = []
  for (let start = 200 * day; start + 365 * day <= bars.t.length; start += day) {
    const year = Array.from({ length: 365 * day }, (_, i) => start + i)
    const cadence = plan.contribution_cadence_bars
    const { average, dca } = runBars({ ...plan, paused: [] }, bars, year, year.length, 1, cadence)
    differences.push(1 - average! / dca!)
  }
  differences.sort((a, b) => a - b)
  const middle = (differences.length - 1) / 2
  return {
    windows: differences.length,
    wins: differences.filter(difference => difference > 0).length,
    median: (differences[Math.floor(middle)]! + differences[Math.ceil(middle)]!) / 2,
  }
}

function runBars(
  plan: ProgramPlan,
  bars: Bars,
  inWindow: number[],
  planned: number,
  equity: number,
  cadence: number,
): Outcome {
  const day = DAY / bars.timeframeMs
  const cost = (plan.costs.fee_bps + plan.costs.slippage_bps) / 10_000
  const contribution = equity / Math.ceil(planned / cadence)
  const accounts = plan.tiers.map(
    ({ tier }): Account => ({ tier, contributed: 0, spent: 0, cash: 0, btc: 0 }),
  )
  /** The depth of the deepest step touched since the last new high, of each tier. */
  const deepest = plan.tiers.map(() => 0)
  const bought: Bought[] = []
  let [dcaSpent, dcaBtc, paid, volume] = [0, 0, 0, 0]

  for (const [bar, i] of inWindow.entries()) {
    const close = bars.c[i]!
    const contributes = bar % cadence === 0
    const date = Math.floor(bars.t[i]! / DAY)
    const paused = plan.paused.some(span => date >= span.from && (span.to === null || date <= span.to))
    if (contributes) {
      dcaSpent += contribution
      dcaBtc += (contribution * (1 - cost)) / close
    }
    paid += ((bars.h[i]! + bars.l[i]! + close) / 3) * bars.v[i]!
    volume += bars.v[i]!

    const newHigh = isNewHigh(bars, i, inWindow[0]!, day)
    for (const [k, tier] of plan.tiers.entries()) {
      const account = accounts[k]!
      if (contributes) {
        account.cash += contribution * tier.weight
        account.contributed += contribution * tier.weight
      }
      if (newHigh) deepest[k] = 0
      if (paused) continue
      const { fraction, depth } = wish(tier, bars, i, inWindow[0]!, day, contributes, deepest[k]!)
      deepest[k] = depth
      const usd = account.cash * fraction
      if (usd < equity / 1_000_000) continue
      const btc = (usd * (1 - cost)) / close
      account.cash -= usd
      account.spent += usd
      account.btc += btc
      bought.push({ bar, tier: tier.tier, usd, btc })
    }
  }

  const spent = accounts.reduce((sum, account) => sum + account.spent, 0)
  const btc = accounts.reduce((sum, account) => sum + account.btc, 0)
  const first = inWindow.length === 0 ? null : bars.c[inWindow[0]!]!
  return {
    accounts,
    bought,
    average: btc === 0 ? null : spent / btc,
    dca: first === null ? null : dcaSpent / dcaBtc,
    vwap: first === null ? null : paid / volume,
    lump_sum: first === null ? null : first / (1 - cost),
    hodl: first,
    quartile:
      spent === 0
        ? null
        : cheapShare(
            inWindow.map(i => bars.c[i]!),
            bought,
          ),
  }
}

/** What a tier would spend of its cash, and the deepest step it has touched then. */
function wish(
  tier: Tier,
  bars: Bars,
  i: number,
  first: number,
  day: number,
  contributes: boolean,
  deepest: number,
): { fraction: number; depth: number } {
  const rule = tier.rule
  const close = bars.c[i]!
  if (rule.kind === 'always') return { fraction: contributes ? 1 : 0, depth: 0 }
  if (rule.kind === 'mayer') {
    const length = rule.mean_days * day
    if (!contributes || i - warmUp(first, day) + 1 < length) return { fraction: 0, depth: 0 }
    let sum = 0
    for (let j = i - length + 1; j <= i; j++) sum += bars.c[j]!
    const band = rule.bands.find(({ below }) => close / (sum / length) < below)
    return { fraction: band?.spend ?? 0, depth: 0 }
  }
  const high = highSoFar(bars, i, first, day)
  const touched = rule.steps.filter(({ drawdown }) => close <= high * (1 - drawdown) && drawdown > deepest)
  const last = touched.at(-1)
  return last === undefined ? { fraction: 0, depth: deepest } : { fraction: last.spend, depth: last.drawdown }
}

/** The first bar that a program sees: 200 days before its window, or the first of the history. */
const warmUp = (first: number, day: number) => Math.max(0, first - 200 * day)

function highSoFar(bars: Bars, i: number, first: number, day: number): number {
  let high = 0
  for (let j = warmUp(first, day); j <= i; j++) high = Math.max(high, bars.c[j]!)
  return high
}

const isNewHigh = (bars: Bars, i: number, first: number, day: number) =>
  i > warmUp(first, day) && bars.c[i]! > highSoFar(bars, i - 1, first, day)

function cheapShare(closes: number[], bought: Bought[]): number {
  const sorted = [...closes].sort((a, b) => a - b)
  const at = (sorted.length - 1) / 4
  const low = sorted[Math.floor(at)]!
  const cheap = low + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - low)
  let [all, cheaply] = [0, 0]
  for (const { bar, usd } of bought) {
    all += usd
    if (closes[bar]! <= cheap) cheaply += usd
  }
  return cheaply / all
}
