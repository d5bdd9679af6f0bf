import { z } from 'zod'
import { parseIsoDate } from '#core/calendar.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { DEFAULT_DISCLAIMER } from '#core/contract/register.ts'
import { isZone } from '#core/replay/chart-zone.ts'
import { TIMEFRAMES } from './timeframe.ts'

// The fields of `catalogue.yaml`. `expected` is the text of the message when a value is refused.

/** The longest text of the engine ends `snapshot.json` and `datapackage.json` soon after; `docs/fleet.md` has the table. */
export const MAX_STRATEGIES = 30_000

/** Fits in a card and in a response header. */
const MAX_TEXT_CHARS = 200
const MAX_LONG_TEXT_CHARS = 2000

/** Each is a replay more of the whole history, every night. */
const MAX_REPLAYED_LEVELS = 8

export const DEFAULT_MAX_MODELLED_RISK_PCT = 0.1

/** One line, because it also travels in headers and in CSV. */
const text = (description: string, maxChars: number = MAX_TEXT_CHARS) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxChars)
    .regex(/^\P{Cc}*$/u)
    .meta({ description, expected: `a line of text of 1 to ${maxChars} characters` })

export const timeframe = (description: string) =>
  z.enum(TIMEFRAMES).meta({ description, expected: `one of ${TIMEFRAMES.join(', ')}` })

const map = z.record(z.string(), z.unknown())

/** The parts of the file. Each field of them has a shape of its own below. */
export const catalogueShape = {
  service: map.meta({ description: 'What is the same for the whole publication.', expected: 'a map' }),
  defaults: map
    .nullable()
    .default({})
    .meta({ description: 'Fields that most strategies share.', expected: 'a map' }),
  funding: map.nullable().default({}).meta({
    description: 'By instrument: `none`, or how often funding is paid.',
    expected: 'a map of instruments, such as { BTCUSDT-PERP: 8h, BTCUSDT: none }',
  }),
  bars: map.nullable().default({}).meta({
    description: 'Files from elsewhere in place of tables of bars, by instrument and timeframe.',
    expected: 'a map',
  }),
  imports: z.record(z.string(), text('What was stated.', MAX_LONG_TEXT_CHARS)).nullable().default({}).meta({
    description:
      'What was stated at the import of tables, by their paths; `highwater import` writes it, and it is published.',
    expected: 'a map of tables to texts, such as { ledgers/elm.csv: "ignore: [Swap]" }',
  }),
  accept: z.array(z.unknown()).nullable().default([]).meta({
    description: 'Serious findings in the data that the operator accepts, each with a published reason.',
    expected: 'a list of findings',
  }),
  strategies: z
    .array(z.unknown())
    .min(1)
    .max(MAX_STRATEGIES)
    .meta({
      description: 'In the order of publication.',
      expected:
        `a list of 1 to ${MAX_STRATEGIES} strategies (the documents of a version end there; publish a larger book as ` +
        'several services)',
    }),
}

/** `service`: what is the same for the whole publication. */
export const serviceShape = {
  name: text('Name of the service, for people.'),
  max_modelled_risk_pct: z.number().gt(0).max(1).default(DEFAULT_MAX_MODELLED_RISK_PCT).meta({
    description:
      'Cap of the risk_pct parameter and of every base risk: a fraction of equity, 0.1 = 10 % per trade.',
    expected: 'a fraction above 0 and at most 1 (0.1 = 10 %)',
  }),
  disclaimer: text('Printed with every answer.', MAX_LONG_TEXT_CHARS).default(DEFAULT_DISCLAIMER),
  methodology_url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_LONG_TEXT_CHARS)
    .meta({ description: 'Page that explains the method.', expected: 'an http or https URL' }),
  embargo_days: z
    .int()
    .min(0)
    .max(3650)
    .default(0)
    .meta({
      description:
        'Whole days by which the public window ends before the data. Leverage and stop of a position can be estimated from its ' +
        'published days, so an embargo hides the live one if it is longer than positions are held.',
      expected: 'a whole number of days from 0 to 3650',
    }),
  data_source: text('Where the bars come from.'),
  engine: text('What made the histories.'),
  public_url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_LONG_TEXT_CHARS)
    .transform(url => url.replace(/\/+$/, ''))
    .nullable()
    .default(null)
    .meta({
      description: 'Address of the service as its users see it: pages cite it.',
      expected: 'an http or https URL',
    }),
  program_url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_LONG_TEXT_CHARS)
    .nullable()
    .default(null)
    .meta({
      description: 'Address of the page of the program, on the signals service: pages link to it.',
      expected: 'an http or https URL',
    }),
  synthetic: z.boolean().default(false).meta({
    description: 'Whether the data are made up: every page says so.',
    expected: 'true or false',
  }),
  benchmark: z.boolean().default(true).meta({
    description: 'Whether each strategy is compared with holding its instrument.',
    expected: 'true or false',
  }),
}

/** Names of instruments are names of folders too, and of columns beside that of the equal-weight book. */
export const INSTRUMENT_PATTERN = /^(?!equal_weight_book$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const INSTRUMENT_FORM =
  'a name of 1 to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit, other than equal_weight_book'

/** `defaults`: fields of a strategy that most strategies share. Each may be overridden in a strategy. */
export const settingsShape = {
  instrument: z.string().regex(INSTRUMENT_PATTERN).default('BTCUSDT-PERP').meta({
    description:
      'Perpetual contract; also the name of its folder under bars/ and of its file under funding/.',
    expected: INSTRUMENT_FORM,
  }),
  ccy: text('Currency of the account and of every amount.', 16).default('USDT'),
  denomination: text('The settlement currency, described.').default('USDT, linear perpetual'),
  commission_bps_per_side: z.number().min(0).max(1000).default(5).meta({
    description: 'Fee of each fill in basis points of its notional: 5 = 0.05 %.',
    expected: 'a number of basis points from 0 to 1000 (5 = 0.05 %)',
  }),
  slippage_ticks: z.number().min(0).max(100_000).default(2).meta({
    description: 'Slippage of each fill in ticks, always against the account.',
    expected: 'a number of ticks from 0 to 100000',
  }),
  tick_size: z
    .number()
    .gt(0)
    .default(0.1)
    .meta({ description: 'Smallest price step, in the quote currency.', expected: 'a price step above 0' }),
  max_leverage: z.number().gt(0).max(1000).default(15).meta({
    description: 'Entries above this leverage (notional / account equity) are refused.',
    expected: 'a number above 0 and at most 1000 (notional / account equity)',
  }),
  result_tolerance_bps: z
    .number()
    .min(0)
    .max(100)
    .default(1)
    .meta({
      description:
        'Largest difference between the result of a trade in a ledger and what prices, leverage and costs make of it, ' +
        'in basis points of account equity: 1 = 0.01 %.',
      expected: 'a number of basis points from 0 to 100 (1 = 0.01 % of account equity)',
    }),
  chart_zone: z
    .string()
    .refine(isZone)
    .nullable()
    .default(null)
    .meta({
      description:
        'Time zone of the charts whose trades are exported to charting/. Without it: the constant offset from UTC with ' +
        'which most trades match.',
      expected: 'a time zone of the IANA database, such as America/New_York',
    }),
  mark: timeframe(
    'Timeframe of the bars whose closes mark a ledger. A module is marked on the bars it is replayed on.',
  ).default('1d'),
}

/** A strategy as people see it. */
const identityShape = {
  id: z.string().regex(ID_PATTERN).meta({
    description: 'Public alias: a tree or a river, never the mechanism. Names the source file.',
    expected:
      'an id of 1 to 64 lower-case letters, digits, dashes and underscores that begins with a letter or digit',
  }),
  name: text('Name, for people.'),
  blurb: text('A sentence for people that gives no mechanism away.', MAX_LONG_TEXT_CHARS)
    .nullable()
    .default(null),
}

/** A status follows from evidence, so it is no longer a key of a catalogue or a program. */
export const tvStatus = z.undefined().optional().meta({
  description: 'Not to be given: the build compares the export of a charting tool and publishes the outcome.',
  expected: 'no such key, because the build determines it from the exports in charting/',
})

/** The source of the history of a strategy, and its public attributes. */
const historyShape = {
  source: z.enum(['module', 'ledger', 'returns']).meta({
    description:
      'strategies/<id>.ts to replay, ledgers/<id>.csv made elsewhere, or returns/<id>.csv as reported.',
    expected: 'one of module, ledger, returns',
  }),
  engine: text(
    'What made the history. A module is replayed by the engine of the service; a ledger and returns must state it.',
  )
    .nullable()
    .default(null),
  timeframe: timeframe('Timeframe of the bars that a module is replayed on.').nullable().default(null),
  inception: z
    .string()
    .transform(parseIsoDate)
    .refine(day => day !== null)
    .nullable()
    .default(null)
    .meta({
      description: 'First published day. Without it: the first complete day of the data.',
      expected: 'a date as YYYY-MM-DD',
    }),
  ended: z
    .strictObject({
      on: z.iso.date().transform(date => parseIsoDate(date)!),
      reason: text('Why it ended.', MAX_LONG_TEXT_CHARS),
    })
    .nullable()
    .default(null)
    .meta({
      description:
        'The last day of a strategy that is over, and why, in public: it stays listed, and its history ends there.',
      expected: 'a day and a public reason, such as { on: 2026-06-30, reason: the exchange closed }',
    }),
  mode: z
    .enum(['LIVE', 'DRY_RUN'])
    .default('DRY_RUN')
    .meta({ description: 'Whether its live signals are to be traded.', expected: 'LIVE or DRY_RUN' }),
  tv_status: tvStatus,
  allow_overlap: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether trades of a ledger may overlap in time.', expected: 'true or false' }),
  trials: z.int().min(1).nullable().default(null).meta({
    description:
      'How many variants were tried before this one was chosen, itself included; the deflated Sharpe ratio needs it.',
    expected: 'a whole number of at least 1: how many variants were tried, this one included',
  }),
}

/** One of `strategies`, before the defaults are merged under it. `maxRisk` is the service's cap. */
export const strategyShape = (maxRisk: number) => ({
  ...identityShape,
  base_risk_pct: baseRisk(maxRisk),
  ...historyShape,
  replayed_at: z
    .array(z.number().gt(0).max(maxRisk))
    .max(MAX_REPLAYED_LEVELS)
    .refine(levels => levels.every((level, i) => i === 0 || level > levels[i - 1]!))
    .default([])
    .meta({
      description: 'Risk levels at which a module is replayed too, beside the rescale to the same level.',
      expected:
        `a list of at most ${MAX_REPLAYED_LEVELS} ascending risk levels above 0 and at most ${maxRisk} ` +
        '(fractions: 0.01 = 1 % of equity)',
    }),
})

const baseRisk = (maxRisk: number) =>
  z
    .number()
    .gt(0)
    .max(maxRisk)
    .meta({
      description: 'Fraction of equity lost when the stop of a trade is hit: 0.02 = 2 %.',
      expected: `a number above 0 and at most ${maxRisk} (a fraction: 0.02 = 2 % of equity)`,
    })

export type Service = z.infer<z.ZodObject<typeof serviceShape>>
export type CatalogueStrategy = z.infer<
  z.ZodObject<ReturnType<typeof strategyShape> & typeof settingsShape, z.core.$strict>
>
