// Payload of `/v1/strategies/{sid}/risk`. Each figure carries its definition, its formula and when it is null, each group
// its conventions.
import { MOST_BINS } from '#core/figures/risk-profile.ts'
import { QUANTILES, YEAR_AHEAD } from '#core/figures/year-ahead.ts'
import { flag, isoDate, number, numberOrNull, record, records, text, whole, word } from './field.ts'
import { count, countOrNull, figureRule, pct, undefinedReasons } from './figure-rule.ts'

const { draws, year_days, block_days, generator, seed } = YEAR_AHEAD

const FALL = 'min(E_i / max(E_0 … E_(i-1)) - 1, 0)'
const SHORT = ['less_than_one_year'] as const

const quantiles = <Name extends string>(name: Name, of: string, formula: string) => {
  const quantile = (p: number) =>
    pct(`${p} % of the drawn years ${of}.`, `100 × Q_${p / 100}(${formula})`, SHORT)
  return Object.fromEntries(QUANTILES.map(p => [`${name}_p${p}_pct`, quantile(p)])) as Record<
    `${Name}_p${(typeof QUANTILES)[number]}_pct`,
    ReturnType<typeof pct>
  >
}

const lossOf = (loss: number) =>
  pct(
    `Share of the drawn years in which the equity is on any day ${loss} % or more below its start.`,
    `100 × n(min(E_1 … E_${year_days}) ≤ ${1 - loss / 100}) / ${draws}`,
    SHORT,
  )

const yearAhead = () =>
  record('A year that is drawn from the days of the series: it says nothing of days that are not in it.', {
    n_days: whole('Days of the series, which the years are drawn from.'),
    draws: whole('Years that are drawn.'),
    year_days: whole('Days of a year.'),
    block_days: whole('Consecutive days that are drawn together.'),
    generator: text('The random numbers.'),
    seed: whole('Their seed.'),
    ...quantiles('return', 'return this or less', `E_${year_days} - 1`),
    ...quantiles('max_drawdown', 'fall this deep or deeper', FALL),
    loss_10_probability_pct: lossOf(10),
    loss_20_probability_pct: lossOf(20),
    loss_50_probability_pct: lossOf(50),
    below_start_probability_pct: pct(
      'Share of the drawn years that end below their start.',
      `100 × n(E_${year_days} < 1) / ${draws}`,
      SHORT,
    ),
  }).meta({
    'x-convention':
      `Circular block bootstrap (Politis and Romano, 1992): ${draws} years of ${year_days} days in blocks of ${block_days}, the last ` +
      `cut to ${year_days % block_days}; a block is consecutive days, after the last the first. The n-th block begins at day floor(x_n × N / 2^32), ` +
      `counted from 0, where x_n is the n-th number of ${generator}, x ^= x << 13, x ^= x >> 17, x ^= x << 5 in 32 bits, from ` +
      `${seed} on. N: days of the series, those after a ruin included. E: equity of a drawn year from E_0 = 1, a day at a time by the factor ` +
      'max(1 + k × r, 0), k = risk level / base risk; 0 is ruin, and stays. Q: quantile of type 7, linear between order statistics.',
  })

const cell = (about: string, formula: string) => number(`${about} Percent.`).meta(figureRule(formula, []))

const startDates = () =>
  records('The result of an account that began on the first day of the series, or of a later month.', {
    t: isoDate('First UTC day.'),
    days: whole('Days up to the last of the series.'),
    net_return_pct: cell('Net return up to the last day.', '100 × (E_n - 1)'),
    cagr_pct: pct('The same per year.', '100 × (E_n^(365 / n) - 1)', SHORT),
    max_drawdown_pct: cell('Deepest fall from a peak.', `100 × ${FALL}`),
  }).meta({
    'x-convention': 'E: equity from E_0 = 1 before the day, n days, as in `/stats`. Rows give no reasons.',
  })

const day = () => ({ t: isoDate('UTC day.'), return_pct: cell('Its return.', '100 × q') })

const days = () =>
  record('The distribution of the daily returns at the risk level.', {
    gain_days: count('Days with a gain.', 'n(q > 0)'),
    loss_days: count('Days with a loss.', 'n(q < 0)'),
    flat_days: count('Days of exactly 0; they are in no bin.', 'n(q = 0)'),
    bin_width_pct: pct('Width of the bins.', 'smallest of 1, 2, 5 × 10^n, at least 0.0001', [
      'too_few_points',
    ]),
    bins: records('From the lowest day to the highest, empty ones included; none if all days are flat.', {
      from_pct: cell('Lower border, inclusive.', 'width × i'),
      to_pct: cell('Upper border, exclusive.', 'width × (i + 1)'),
      days: count('Days in the bin.', 'n(from ≤ 100 × q < to)'),
    }),
    best: records('At most five days with a gain, the largest first; equal ones by date.', day()),
    worst: records('At most five days with a loss, the largest first; equal ones by date.', day()),
  }).meta({
    'x-convention':
      'q = k × r: r are the daily returns at base risk, k = risk level / base risk. The days of a ruined account end with that of its ruin, ' +
      `where q = -1. The width is the smallest with which at most ${MOST_BINS} bins, from multiples of it on, hold all days that are not flat.`,
  })

const exposure = () =>
  record('Exposure through time.', {
    months: records('Every UTC month that the series touches.', {
      year: whole('UTC calendar year.'),
      month: whole('1 to 12.'),
      long_pct: numberOrNull('Share of the time in which a long trade was open. Percent.'),
      short_pct: numberOrNull('Share of the time in which a short trade was open. Percent.'),
      flat_pct: numberOrNull('Share of the time in which none was open. Percent.'),
      has_open_position: flag(
        'True from the month on in which the position that is still open was entered: it is in none of the closed trades, so ' +
          'the shares are null.',
      ),
    })
      .nullable()
      .meta(
        figureRule('100 × time long / T, 100 × time short / T, 100 × (1 - time in any / T)', ['no_trades']),
      ),
  }).meta({
    'x-convention':
      'T: the time of the month that the series covers. Closed trades, each open over [entry, exit); long and short ones may be ' +
      'open at once, so that the shares may add up to more than 100. From the month on in which a position was entered that is ' +
      'still open, the shares are null. The same at each risk level.',
  })

const stress = () =>
  record('The account in periods that have a name, each from equity 1.', {
    instrument_falls: countOrNull(
      'Rows that nobody chose: the deepest falls of the instrument over the days of the series, at most five.',
      'min(number of drawdowns, 5)',
      ['no_benchmark'],
    ),
    rows: records('First the falls of the instrument, deepest first, then the periods of the publisher.', {
      name: text('The fall, or the name that the publisher gives.'),
      from: isoDate('First UTC day; of a fall, the day after the peak.'),
      to: isoDate('Last UTC day; of a fall, the trough.'),
      by: word('Who chose the period.', ['instrument', 'publisher']),
      days: whole('Days of the period.'),
      days_covered: whole('Days of it that are in the series.'),
      return_pct: numberOrNull('Net return of the account. Percent.'),
      max_drawdown_pct: numberOrNull('Deepest fall of the account within the period. Percent.'),
      instrument_return_pct: numberOrNull('Return of holding the instrument over the period. Percent.'),
    }).meta(figureRule(`100 × (E_n - 1), 100 × ${FALL}`)),
  }).meta({
    'x-convention':
      'E: equity from E_0 = 1 before the n days of a period. In a row a figure is null if the series does not have each day of the ' +
      'period, or the instrument no returns on each; the instrument is held without costs, at no risk level.',
  })

export const riskData = () =>
  record('What a reader asks who would follow the strategy, at the risk level.', {
    year_ahead: yearAhead(),
    start_dates: startDates(),
    days: days(),
    exposure: exposure(),
    stress: stress(),
    undefined: undefinedReasons,
  }).meta({ id: 'Risk' })
