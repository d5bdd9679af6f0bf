// What the night publishes of costs, excursions and replays.
import { beforeAll, expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { toPublishedSeries } from '#core/contract/rounding.ts'
import { type Snapshot, strategyOf } from '#core/dataset/snapshot.ts'
import { dailyPath } from '#core/figures/account-path.ts'
import type { FigureValues } from '#core/figures/figure.ts'
import { headlineFigures } from '#core/figures/performance.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { FREE, record, scripted } from '../../core/replay/hand.ts'
import {
  bookOf,
  computeNight,
  dailyBars,
  dailyReturns,
  ledgerOf,
  moduleOf,
  ONE_TRADE,
  problemsOfNight,
  returnsOf,
} from './night-book.ts'

/** Closes that rise and fall. */
const CLOSES = Array.from({ length: 120 }, (_, i) => 100 + 10 * Math.sin(i / 3))

/** In and out every few days; the stops are from 1.2 to 12 % away, so that the cap of 15 refuses some at a risk of 50 %. */
const onBar: Strategy['onBar'] = (_, bar, position) => {
  const day = Math.round(bar.t / 86_400_000)
  if (position !== null) return day % 3 === 2 ? { act: 'flat', why: 'signal' } : null
  return day % 3 === 0 ? { act: 'long', stop: bar.c * (1 - 0.012 * (1 + (day % 10))) } : null
}

const LEVELS = [0.01, 0.02, 0.1, 0.5]

/** A direct run of the same rules, in this process, at a level. */
function direct(baseRisk: number) {
  const strategy = scripted({}, { timeframeMs: DAY_MS, baseRisk, onBar })
  const { result, events } = record({ strategy, bars, funding: null, costs: FREE })
  const asked = events.filter(
    event => event.kind === 'refused' || (event.kind === 'ordered' && event.act !== 'flat'),
  )
  return { ...result, asked: asked.length }
}

let snapshot: Snapshot
let bars: Bars
beforeAll(async () => {
  const trade = ONE_TRADE.replace(',100,', `,${CLOSES[0]},`)
    .replace(',103,', `,${CLOSES[6]},`)
    .replace('0.03', String(CLOSES[6]! / CLOSES[0]! - 1))
  const strategies = [
    moduleOf('oak', { body: `onBar: ${onBar.toString()},` }, { replayed_at: LEVELS }),
    moduleOf('elm'),
    ledgerOf('birch', trade),
    returnsOf('cedar', dailyReturns(CLOSES.map((_, i) => (i % 2 === 0 ? -0.001 : 0.001)))),
  ]
  const files = bookOf(dailyBars(CLOSES), strategies, { max_modelled_risk_pct: 1 })
  const book = await withFiles(files, readBook)
  bars = book.bars.get('BTCUSDT-PERP/1d')!.bars
  snapshot = (await computeNight(book)).snapshot
})
const group = (id: string, name: string) =>
  (strategyOf(snapshot, id)!.figures.values.fund_dd as FigureValues)[name] as FigureValues

test('a night replays a module at each risk level of the catalogue, as a run at that level does', () => {
  const rows = group('oak', 'replays').table as unknown as Record<'replayed' | 'rescaled', FigureValues>[]
  expect(rows).toHaveLength(LEVELS.length)
  rows.forEach(({ replayed }, i) => {
    const { daily, state, asked } = direct(LEVELS[i]!)
    const { net_return_pct, max_drawdown_pct, sharpe_daily_annualized } = headlineFigures(
      dailyPath(toPublishedSeries(daily)),
    )
    expect(replayed).toEqual({
      net_return_pct,
      cagr_pct: null,
      max_drawdown_pct,
      sharpe_daily_annualized,
      trade_count: state.trades_closed,
      entries_asked: asked,
      entries_refused: state.entries_refused,
    })
  })
  expect(rows.map(({ replayed }) => Number(replayed.entries_refused) > 0)).toEqual([
    false,
    false,
    false,
    true,
  ])
})

test('the replay, the rescale and the statistics of a module are one at base risk, and differ at other levels', () => {
  const { values } = strategyOf(snapshot, 'oak')!.figures
  const replays = group('oak', 'replays')
  const [half, base] = replays.table as unknown as Record<'replayed' | 'rescaled', FigureValues>[]
  const { net_return_pct, max_drawdown_pct } = values
  expect(base!.replayed).toMatchObject({ net_return_pct, max_drawdown_pct })
  expect(base!.rescaled).toMatchObject({ net_return_pct, max_drawdown_pct })
  expect(base!.replayed).toMatchObject({
    trade_count: values.trade_count,
    entries_asked: replays.entries_asked,
    entries_refused: replays.entries_refused,
  })
  expect(half!.replayed.net_return_pct).not.toBe(half!.rescaled.net_return_pct)
})

test('a night counts the entries of every module, and has no replay where no level is named', () => {
  expect(group('elm', 'replays')).toEqual({ entries_asked: 1, entries_refused: 0, table: [] })
  for (const id of ['birch', 'cedar']) {
    expect(group(id, 'replays')).toEqual({ entries_asked: null, entries_refused: null, table: [] })
    expect(strategyOf(snapshot, id)!.figures.undefined['fund_dd/replays/entries_asked']).toBe('no_module')
  }
})

test('a position of a module that is open at the end is in its exposure up to there, and not among its trades', () => {
  expect(group('elm', 'exposure')).toMatchObject({
    time_in_market_pct: expect.closeTo((100 * 119) / 120, 6),
    open_since: '2024-01-02',
  })
  expect(strategyOf(snapshot, 'elm')!.figures.values.trade_count).toBe(0)
})

test('a night without costs publishes shares of 0 and the same figures at twice of them; without bars nothing of it', () => {
  for (const id of ['oak', 'birch']) {
    const { net_return_pct, max_drawdown_pct } = strategyOf(snapshot, id)!.figures.values
    expect(group(id, 'costs')).toMatchObject({
      fees_pct_of_gross_profit: 0,
      slippage_pct_of_gross_profit: 0,
      funding_pct_of_gross_profit: 0,
      at_twice_the_costs: {
        net_return_pct: expect.closeTo(Number(net_return_pct), 6),
        max_drawdown_pct: expect.closeTo(Number(max_drawdown_pct), 6),
      },
    })
  }
  const { undefined: reasons } = strategyOf(snapshot, 'cedar')!.figures
  const ofCedar = Object.entries(reasons).filter(([path]) => /^fund_dd\/(costs|excursions)/.test(path))
  expect(ofCedar.map(([, reason]) => reason)).toEqual(Array(19).fill('unknown_leverage'))
})

test('a module that fails at another risk level alone is refused, with the level', async () => {
  const body = `
    init: () => ({ isAsked: false }),
    onBar: (state, bar, position) => {
      if (state.isAsked && position === null) throw new Error('there must be a position')
      state.isAsked = true
      return position === null ? { act: 'long', stop: bar.c * 0.99 } : null
    },`
  const bars = dailyBars(CLOSES.map(() => 100))
  const oak = moduleOf('oak', { body }, { replayed_at: [0.05, 0.3] })
  const problems = await problemsOfNight(bookOf(bars, [oak], { max_modelled_risk_pct: 1 }))
  expect(problems).toEqual([
    expect.stringMatching(
      /^strategies\/oak\.ts:\d+:\d+: replayed at the risk level 0\.3: at the bar of 2024-\S+: there must be a position; at base risk it runs/,
    ),
  ])
})
