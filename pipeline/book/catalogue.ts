import { z } from 'zod'
import { parseIsoDate } from '#core/calendar.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { DEFAULT_DISCLAIMER } from '#core/contract/register.ts'
import type { FundingInterval } from '#core/replay/bars.ts'
import { isZone } from '#core/replay/chart-zone.ts'
import { acceptShape } from '../report/accept.ts'
import { parseMoment } from './cell.ts'
import { between, date, type Fault, field, got, line, mapSchema, orNull } from './field.ts'
import { TIMEFRAMES } from './timeframe.ts'

// The fields of `catalogue.yaml`, each with what is expected of it.

/** The longest text of the engine ends `snapshot.json` and `datapackage.json` soon after; `docs/fleet.md` has the table. */
const MAX_STRATEGIES = 30_000

/** Fits in a card and in a response header. */
const MAX_TEXT_CHARS = 200
const MAX_LONG_TEXT_CHARS = 2000

/** As many as a table shows at a glance. */
const MAX_PERIODS = 12

/** Each is a replay more of the whole history, every night. */
const MAX_REPLAYED_LEVELS = 8

const text = (maxChars: number = MAX_TEXT_CHARS) =>
  field(line(maxChars), `a line of text of 1 to ${maxChars} characters`)

const flag = (initial = false) => field(z.boolean().default(initial), 'true or false')

const webAddress = field(z.url({ protocol: /^https?$/ }).max(MAX_LONG_TEXT_CHARS), 'an http or https URL')
const LICENCE_ID = 'the id of a licence, such as CC-BY-4.0'

export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  field(z.enum(words), `one of ${words.join(', ')}`)

export const basisPoints = field(
  z.number().min(0).max(1000),
  'a number of basis points from 0 to 1000 (5 = 0.05 %)',
)

/** A UTC day, inclusive. */
const isoDay = field(
  z.string().refine(text => parseIsoDate(text) !== null),
  'a date as YYYY-MM-DD',
)

const period = z.strictObject({ name: text(60), from: isoDay, to: isoDay })

/** Periods that end before they begin, and names that a change of the list could not tell apart. */
const explainPeriods = (periods: readonly z.infer<typeof period>[]): Fault[] =>
  periods.flatMap(({ name, from, to }, i): Fault[] => {
    if (to < from) return [[[i, 'to'], `expected ${from}, the first day, or a later one, got ${got(to)}`]]
    const isTaken = periods.slice(0, i).some(other => other.name === name)
    return isTaken ? [[[i, 'name'], `expected a name of its own, got ${got(name)} again`]] : []
  })

/** `service`: what is the same for the whole publication. */
export const serviceShape = {
  name: text(),
  /** Cap of the risk_pct parameter and of every base risk: a fraction of equity, 0.1 = 10 % per trade. */
  max_modelled_risk_pct: field(
    z.number().gt(0).max(1).default(0.1),
    'a fraction above 0 and at most 1 (0.1 = 10 %)',
  ),
  /** Printed with every answer. */
  disclaimer: text(MAX_LONG_TEXT_CHARS).default(DEFAULT_DISCLAIMER),
  /** Page that explains the method. */
  methodology_url: webAddress,
  /**
   * Whole days by which the public window ends before the data. Leverage and stop of a position can be estimated from its
   * published days, so an embargo hides the live one if it is longer than positions are held.
   */
  embargo_days: field(z.int().min(0).max(3650).default(0), 'a whole number of days from 0 to 3650'),
  /** Where the bars come from. */
  data_source: text(),
  /** What made the histories. */
  engine: text(),
  /** Licence of the published data: the data package and the pages name it. Without it they give the disclaimer as terms. */
  licence: field(
    orNull(
      z.strictObject({
        name: field(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/), LICENCE_ID),
        title: orNull(text()),
        path: orNull(webAddress),
      }),
    ),
    `a map with ${LICENCE_ID} as name, and a title and the URL of its text as path`,
  ),
  /** Address of the service as its users see it: pages cite it. */
  public_url: orNull(webAddress.transform(url => url.replace(/\/+$/, ''))),
  /** Address of the page of the program, on the signals service: pages link to it. */
  program_url: orNull(webAddress),
  /** Whether the data are made up: every page says so. */
  synthetic: flag(),
  /** Periods in which the result of each strategy is shown, after the deepest falls of its instrument. */
  stress_periods: field(
    z.array(period).max(MAX_PERIODS).superRefine(between(explainPeriods)).default([]),
    `a list of at most ${MAX_PERIODS} periods, such as [{ name: The crash, from: 2020-02-20, to: 2020-03-23 }]`,
  ),
  /** Whether each strategy is compared with holding its instrument. */
  benchmark: flag(true),
}

/** Names of instruments are names of folders too, and of columns beside that of the equal-weight book. */
export const INSTRUMENT_PATTERN = /^(?!equal_weight_book$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const INSTRUMENT_FORM =
  'a name of 1 to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit, other than equal_weight_book'

/** `defaults`: fields of a strategy that most strategies share. Each may be overridden in a strategy. */
export const settingsShape = {
  /** Perpetual contract; also the name of its folder under bars/ and of its file under funding/. */
  instrument: field(z.string().regex(INSTRUMENT_PATTERN).default('BTCUSDT-PERP'), INSTRUMENT_FORM),
  /** Currency of the account and of every amount. */
  ccy: text(16).default('USDT'),
  /** The settlement currency, described. */
  denomination: text().default('USDT, linear perpetual'),
  /** Fee of each fill in basis points of its notional: 5 = 0.05 %. */
  commission_bps_per_side: basisPoints.default(5),
  /** Slippage of each fill in ticks, always against the account. */
  slippage_ticks: field(z.number().min(0).max(100_000).default(2), 'a number of ticks from 0 to 100000'),
  /** Smallest price step, in the quote currency. */
  tick_size: field(z.number().gt(0).default(0.1), 'a price step above 0'),
  /** Entries above this leverage (notional / account equity) are refused. */
  max_leverage: field(
    z.number().gt(0).max(1000).default(15),
    'a number above 0 and at most 1000 (notional / account equity)',
  ),
  /**
   * Largest difference between the result of a trade in a ledger and what prices, leverage and costs make of it, in basis points of
   * account equity: 1 = 0.01 %.
   */
  result_tolerance_bps: field(
    z.number().min(0).max(100).default(1),
    'a number of basis points from 0 to 100 (1 = 0.01 % of account equity)',
  ),
  /**
   * Time zone of the charts whose trades are exported to charting/. Without it: the constant offset from UTC with which most trades
   * match.
   */
  chart_zone: field(
    orNull(z.string().refine(isZone)),
    'a time zone of the IANA database, such as America/New_York',
  ),
  /** Timeframe of the bars whose closes mark a ledger. A module is marked on the bars it is replayed on. */
  mark: oneOf(TIMEFRAMES).default('1d'),
}

/** Whole hours that divide a day: every exchange pays on a grid from midnight UTC. */
const INTERVALS = [1, 2, 3, 4, 6, 8, 12, 24].map(hours => `${hours}h`)

const every = z.enum(INTERVALS).transform(text => Number.parseInt(text, 10) * 3_600_000)

const intervalFrom = z
  .strictObject({ every, from: z.string().transform(parseMoment).pipe(z.number()).default(-Infinity) })
  .transform(({ every: everyMs, from }): FundingInterval => ({ from, everyMs }))

/** That an instrument has no funding, or how often it pays. */
export const fundingStatement = field(
  z
    .union([
      z.literal('none'),
      every.transform((everyMs): readonly FundingInterval[] => [{ from: -Infinity, everyMs }]),
      z.array(intervalFrom).min(1),
    ])
    .refine(
      list =>
        list === 'none' ||
        list.every(({ from }, i) => (i === 0 ? from === -Infinity : from > list[i - 1]!.from)),
    )
    .optional(),
  `none, an interval (${INTERVALS.join(', ')}), or intervals in order of time, such as ` +
    '[{ every: 8h }, { every: 4h, from: 2023-10-01T00:00:00Z }]',
)

/** A status follows from evidence, so it is no longer a key of a catalogue or a program. */
export const tvStatus = field(
  z.undefined().optional(),
  'no such key, because the build determines it from the exports in charting/',
)

/** One of `strategies`, before the defaults are merged under it. `maxRisk` is the service's cap. */
export const strategyShape = (maxRisk: number) => ({
  /** Public alias: a tree or a river, never the mechanism. Names the source file. */
  id: field(
    z.string().regex(ID_PATTERN),
    'an id of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit',
  ),
  name: text(),
  /** A sentence for people that gives no mechanism away. */
  blurb: orNull(text(MAX_LONG_TEXT_CHARS)),
  /** Fraction of equity lost when the stop of a trade is hit: 0.02 = 2 %. */
  base_risk_pct: field(
    z.number().gt(0).max(maxRisk),
    `a number above 0 and at most ${maxRisk} (a fraction: 0.02 = 2 % of equity)`,
  ),
  /** strategies/<id>.ts to replay, ledgers/<id>.csv made elsewhere, or returns/<id>.csv as reported. */
  source: oneOf(['module', 'ledger', 'returns']),
  /** What made the history. A module is replayed by the engine of the service; a ledger and returns must state it. */
  engine: orNull(text()),
  /** Timeframe of the bars that a module is replayed on. */
  timeframe: orNull(oneOf(TIMEFRAMES)),
  /** First published day. Without it: the first complete day of the data. */
  inception: field(orNull(date), 'a date as YYYY-MM-DD'),
  /** The last day of a strategy that is over, and why, in public: it stays listed, and its history ends there. */
  ended: field(
    orNull(z.strictObject({ on: date, reason: line(MAX_LONG_TEXT_CHARS) })),
    'a day and a public reason, such as { on: 2026-06-30, reason: the exchange closed }',
  ),
  /** Whether its live signals are to be traded. */
  mode: field(z.enum(['LIVE', 'DRY_RUN']).default('DRY_RUN'), 'LIVE or DRY_RUN'),
  tv_status: tvStatus,
  /** Whether trades of a ledger may overlap in time. */
  allow_overlap: flag(),
  /** How many variants were tried before this one was chosen, itself included; the deflated Sharpe ratio needs it. */
  trials: field(
    orNull(z.int().min(1)),
    'a whole number of at least 1: how many variants were tried, this one included',
  ),
  /** Risk levels at which a module is replayed too, beside the rescale to the same level. */
  replayed_at: field(
    z
      .array(z.number().gt(0).max(maxRisk))
      .max(MAX_REPLAYED_LEVELS)
      .refine(levels => levels.every((level, i) => i === 0 || level > levels[i - 1]!))
      .default([]),
    `a list of at most ${MAX_REPLAYED_LEVELS} ascending risk levels above 0 and at most ${maxRisk} ` +
      '(fractions: 0.01 = 1 % of equity)',
  ),
})

/** The parts of the file. What is in maps of other names, and in strategies, is read by itself. */
export const catalogueShape = {
  service: field(z.strictObject(serviceShape), 'a map'),
  defaults: field(orNull(z.strictObject(settingsShape)), 'a map'),
  /** By instrument: `none`, or how often funding is paid. */
  funding: field(
    mapSchema.nullable().default({}),
    'a map of instruments, such as { BTCUSDT-PERP: 8h, BTCUSDT: none }',
  ),
  /** What was stated at the import of tables, by their paths; `highwater import` writes it, and it is published. */
  imports: field(
    z.record(z.string(), line(MAX_LONG_TEXT_CHARS)).nullable().default({}),
    'a map of tables to texts, such as { ledgers/elm.csv: "ignore: [Swap]" }',
  ),
  /** Serious findings in the data that the operator accepts, each with a published reason. */
  accept: field(z.array(z.strictObject(acceptShape)).nullable().default([]), 'a list of findings'),
  /** In the order of publication. */
  strategies: field(
    z.array(z.unknown()).min(1).max(MAX_STRATEGIES),
    `a list of 1 to ${MAX_STRATEGIES} strategies (the documents of a version end there; publish a larger book as ` +
      'several services)',
  ),
}

/** A strategy with the defaults merged under it. */
export const strategySchema = (maxRisk: number) =>
  z.strictObject({ ...strategyShape(maxRisk), ...settingsShape })

export type Service = z.infer<z.ZodObject<typeof serviceShape>>
export type StrategySchema = ReturnType<typeof strategySchema>
export type CatalogueStrategy = z.infer<StrategySchema>
