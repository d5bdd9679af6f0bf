// The figures of a hundred series beside the same figures with pandas, each on one thread, after both agreed on every number.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseIsoDate } from '#core/calendar.ts'
import { type Figure, isUndefined } from '#core/figures/figure.ts'
import { completeWeeks, type Series } from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import type { Ground } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { runPython } from '../harness/programs.ts'
import { plain, type Section } from '../harness/report.ts'

const SERIES = 100
const POINTS = 3650
const FIRST_DAY = parseIsoDate('2016-07-01')!
const ROUNDS = 5
/** Of one process of Python: the first one warms it up. */
const PANDAS_ROUNDS = 3

/** Two ways of summing some thousand doubles differ by 1e-13 or so; another definition shows from 1e-6 up. */
const AGREEMENT = 1e-9

export async function measureFigures({ folder }: Ground): Promise<Section> {
  const random = createRandom(1)
  const series = Array.from({ length: SERIES }, (): Series => {
    const values = Float64Array.from({ length: POINTS }, () => 0.0005 + 0.01 * random.normal())
    return { period: 'daily', first: FIRST_DAY, values }
  })
  const file = join(folder, 'returns.f64')
  await writeFile(file, Buffer.concat(series.map(({ values }) => Buffer.from(values.buffer))))
  const pandas = async (): Promise<number> => {
    const printed = await runPython(
      join(import.meta.dirname, 'figures.py'),
      [file, SERIES, POINTS, PANDAS_ROUNDS].map(String),
    )
    assertAgree(series.map(figuresOf).flatMap(listed), printed.slice(PANDAS_ROUNDS))
    return median(printed.slice(0, PANDAS_ROUNDS))
  }
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await pandas())
    ours.push(processorSeconds(() => series.forEach(figuresOf)))
  }
  const perSeries = (seconds: readonly number[]): number => (1000 * median(seconds)) / SERIES
  return {
    title: 'Figures',
    about:
      `${SERIES} series of ${POINTS} days on one thread: ours is the whole block of a strategy, of which pandas (the ` +
      'formulas of empyrical, vectorised) computes a part: CAGR, volatility, Sharpe, Sortino, drawdown, Calmar, Omega, tails, ' +
      `moments, the tables of months and years. All ${listed(figuresOf(series[0]!)).length} numbers of each series agree to ` +
      `${AGREEMENT}. Processor time, medians of ${ROUNDS} rounds in turns.`,
    figures: [
      plain('ours, a series', perSeries(ours), 'ms'),
      plain('pandas, a series', perSeries(theirs), 'ms'),
      plain('pandas to ours', median(theirs.map((seconds, i) => seconds / ours[i]!)), 'times'),
    ],
  }
}

const figuresOf = (daily: Series) =>
  strategyFigures({ daily, weekly: completeWeeks(daily), trades: [], base_risk_pct: 0.02 })

function processorSeconds(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}

/** What both compute, fractions, in the order of figures.py. */
function listed({
  net_return_pct,
  cagr_pct,
  max_drawdown_pct,
  sharpe_daily_annualized,
  sortino_daily_annualized,
  fund_dd: { risk_adjusted: risk, monthly, annual },
}: ReturnType<typeof strategyFigures>): number[] {
  return [
    net_return_pct / 100,
    percent(cagr_pct),
    percent(risk.volatility_annualized_pct),
    existing(sharpe_daily_annualized),
    existing(sortino_daily_annualized),
    percent(risk.downside_deviation_annualized_pct),
    max_drawdown_pct / 100,
    existing(risk.calmar),
    existing(risk.omega),
    existing(risk.tail_ratio),
    percent(risk.var_95_daily_pct),
    percent(risk.cvar_95_daily_pct),
    existing(risk.skewness_daily),
    existing(risk.kurtosis_excess_daily),
    percent(risk.best_day_pct),
    percent(risk.worst_day_pct),
    percent(risk.positive_days_pct),
    ...monthly.table.map(({ return_pct }) => return_pct / 100),
    ...annual.table.map(({ return_pct }) => return_pct / 100),
  ]
}

const existing = (figure: Figure): number => (isUndefined(figure) ? Number.NaN : figure)

const percent = (figure: Figure): number => existing(figure) / 100

function assertAgree(ours: readonly number[], theirs: readonly number[]): void {
  if (ours.length !== theirs.length) {
    throw new Error(`pandas computed ${theirs.length} figures instead of ${ours.length}: correct figures.py`)
  }
  ours.forEach((figure, i) => {
    const difference = Math.abs(figure - theirs[i]!)
    if (difference <= AGREEMENT * Math.max(1, Math.abs(figure))) return // NaN never is
    throw new Error(
      `figure ${i % (ours.length / SERIES)} of series ${Math.floor((i * SERIES) / ours.length)} is ${figure} here and ` +
        `${theirs[i]} with pandas: one of the two is wrong`,
    )
  })
}
