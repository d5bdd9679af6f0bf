import { DEFAULT_PARAMS, type QueryName } from '#core/contract/parameters.ts'
import { PIN_PARAMETER } from '#core/contract/pins.ts'
import type { Rewrite } from './vcl.ts'

/** A name in the query: a parameter, or the pin, which is none of a route but names the dataset they are asked of. */
export type Name = QueryName | typeof PIN_PARAMETER

/** Rewrites one after the other, of a text that matches some patterns and does not match others. */
export type Step = {
  readonly matching: readonly string[]
  readonly notMatching: readonly string[]
  readonly rewrites: readonly Rewrite[]
}

/** Lists of more or longer ids keep their blanks and repetitions: patterns on lists match in steps of their square. */
const MOST_IDS = 20
const LONGEST_IDS = 800

/** Repetitions in a list of ids that are dropped; nobody but a test sends more. */
const MOST_REPETITIONS = 4

/** Digits before and after the point up to which a decimal text and the number it stands for are the same thing. */
const MOST_WHOLE_DIGITS = 6
const MOST_DECIMALS = 9

const always = (rewrites: readonly Rewrite[]): Step => ({ matching: [], notMatching: [], rewrites })

/** What equals its default is the same as absent. */
const dropDefault = (name: 'period' | 'format'): readonly Step[] => [
  always([{ pattern: `^&${name}=${DEFAULT_PARAMS[name]}$`, by: '' }]),
]

/** Repeated keys are one list: `&ids=a&ids=b` is `,a,b`, and at the end `&ids=a,b`. */
const JOIN_KEYS: Rewrite = { pattern: '&ids=?', by: ',', everywhere: true }
const NAME_LIST: Rewrite = { pattern: '^,', by: '&ids=' }

/** A list that is not too long, in which every item names something. */
const LIST = `^(?=.{1,${LONGEST_IDS}}$)(?:,[^,]++){1,${MOST_IDS}}$`
const BLANK_ITEM = String.raw`,(?:\+|%20)++(?:,|$)`

const DROP_BLANKS: Rewrite = {
  pattern: String.raw`(?:\+|%20)(?=,|$)|(?<=,)(?:\+|%20)`,
  by: '',
  everywhere: true,
}

/** The first item stays where it stood, because the order is the caller's. */
const DROP_REPETITION: Rewrite = {
  pattern: String.raw`^((?:,[^,]++)*?),([^,]++)((?:,[^,]++)*?),\2(?=,|$)`,
  by: String.raw`\1,\2\3`,
}

const tidyList: readonly Step[] = [
  always([JOIN_KEYS]),
  {
    matching: [LIST],
    notMatching: [BLANK_ITEM],
    rewrites: [DROP_BLANKS, ...Array<Rewrite>(MOST_REPETITIONS).fill(DROP_REPETITION)],
  },
  always([NAME_LIST]),
]

/** `2.5e-2` is `0.025`: one rewrite for each exponent, because a pattern cannot count. */
const spellOut = (exponent: number): Rewrite => ({
  pattern: String.raw`^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*${exponent}$`,
  by: String.raw`&risk_pct=0.${'0'.repeat(exponent - 1)}\1\2`,
})

/** What `spellOut` may find: everything else is spared the attempts. */
const WITH_EXPONENT = String.raw`^&risk_pct=[1-9](?:\.\d+)?[eE]-0*[1-${MOST_DECIMALS}]$`

/** A number without an exponent that is not zero, which the service refuses as it was written. */
const PLAIN_DECIMAL = String.raw`^&risk_pct=0*\d{1,${MOST_WHOLE_DIGITS}}(?:\.\d{1,${MOST_DECIMALS}}0*)?$`
const NOT_ZERO = '[1-9]'

const DROP_LEADING_ZEROS: Rewrite = { pattern: String.raw`=0+(?=\d)`, by: '=' }
const DROP_TRAILING_ZEROS: Rewrite = { pattern: String.raw`\.0+$|(\.\d*[1-9])0+$`, by: String.raw`\1` }

/** `2e-2` and `0.020` are `0.02`. */
const shortenDecimal: readonly Step[] = [
  {
    matching: [WITH_EXPONENT],
    notMatching: [],
    rewrites: Array.from({ length: MOST_DECIMALS }, (_, i) => spellOut(i + 1)),
  },
  {
    matching: [PLAIN_DECIMAL, NOT_ZERO],
    notMatching: [],
    rewrites: [DROP_LEADING_ZEROS, DROP_TRAILING_ZEROS],
  },
]

/**
 * How a parameter, spelled `&name=value` as often as it was given, becomes what the service's canonicaliser makes of it.
 * One without steps has one spelling.
 */
export const PARAMETER_REWRITES: { readonly [N in Name]: readonly Step[] } = {
  [PIN_PARAMETER]: [],
  period: dropDefault('period'),
  format: dropDefault('format'),
  risk_pct: shortenDecimal,
  ids: tidyList,
  from: [],
  to: [],
}
