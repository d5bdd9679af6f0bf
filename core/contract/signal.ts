// A live signal as it goes over the wire: made once, and the same bytes ever after.
import { z } from 'zod'
import { ISO_INSTANT } from '#core/calendar.ts'
import { flag, namedRecord, number, text, word } from './payloads/field.ts'
import { toSignificant } from './rounding.ts'

/** Raised when a field changes its meaning: subscribers pin it. */
export const SIGNAL_SCHEMA_VERSION = '1.0'

export const MODES = ['LIVE', 'DRY_RUN'] as const
export const SIGNAL_ACTIONS = ['long', 'short', 'flat'] as const

export type Mode = (typeof MODES)[number]
export type SignalAction = (typeof SIGNAL_ACTIONS)[number]

/** JSON Schema reads `format` as a remark: the pattern is what refuses. */
export const instantText = z.string().regex(ISO_INSTANT).meta({ format: 'date-time' })

export const signal = namedRecord('Signal', {
  schema_version: text('Version of this schema, to be pinned.'),
  signal_id: text('Unique id, for de-duplication.'),
  seq: z.int().min(1).describe('Strictly ascending number in the log of the service.'),
  alias: text('The product: route on this alone.'),
  mode: word('Trade `LIVE` only.', MODES),
  is_test: flag('True means: never trade, whatever the action.'),
  action: word('What to hold from now on; `flat` closes.', SIGNAL_ACTIONS),
  signal_price: number('Reference price, the close of the deciding bar; no promise of a fill.').positive(),
  stop: z.number().positive().describe('Price of the protective stop; on `flat` the one that was in force.'),
  base_risk_pct: z.number().min(0).max(1).describe('Fraction of equity at risk, 0.02 is 2 %; 0 on `flat`.'),
  timestamp: instantText.describe('When the decision was made, UTC.'),
  implied_leverage: number('base_risk_pct / (|signal_price - stop| / signal_price); 0 on `flat`.').min(0),
  by: z
    .string()
    .regex(/^(?:strategy|operator:[a-z0-9][a-z0-9_-]{0,63})$/)
    .optional()
    .describe(
      'Who decided: `strategy`, or `operator:NAME` if it was fired with the token of that name. Signals of earlier releases have none.',
    ),
  why: word(
    'Only on `flat`: the `stop` was hit, the rules of the strategy left by `signal` or `time`, an `operator` fired it, or `end`: its account is ruined, or another version replaces it.',
    ['stop', 'signal', 'time', 'operator', 'end'],
  ).optional(),
})

export type Signal = z.infer<typeof signal>

type Field = keyof typeof signal.shape

/** The fields of the JSON and the CSV, in their order: those of the specification, and what was added since. */
export const SIGNAL_FIELDS = Object.keys(signal.shape) as readonly Field[] // keyof of the literal above

const CONTENT_FIELDS = SIGNAL_FIELDS.filter(name => name !== 'schema_version' && name !== 'seq')

/** What a signal says beside its number; those of earlier releases do not say who decided. */
export type LoggedContent = Readonly<Pick<Signal, Exclude<Field, 'schema_version' | 'seq'>>>

/** A signal before it has its number. */
export type SignalContent = LoggedContent & { readonly by: 'strategy' | `operator:${string}` }

/**
 * The bytes of a signal around its number: the log puts the number between them, so it is never serialised a
 * second time.
 */
export function toHalves({ signal_id, ...rest }: LoggedContent) {
  const before = { schema_version: SIGNAL_SCHEMA_VERSION, signal_id }
  return {
    head: `${JSON.stringify(before).slice(0, -1)},"seq":`,
    tail: `,${JSON.stringify(rest, CONTENT_FIELDS).slice(1)}`,
  }
}

/** `base_risk_pct` over the distance of the stop as a fraction of the price; NaN if the two are equal. */
export const impliedLeverage = (price: number, stop: number, baseRiskPct: number): number =>
  toSignificant(baseRiskPct / (Math.abs(price - stop) / price))
