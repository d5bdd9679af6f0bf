// What a reader of the explorer chose, as the address of the page holds it: read and printed by the rules of the API.
import { toIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import {
  canonicalUrl,
  PARAMETERS,
  type Parameter,
  type Parser,
  readQuery,
  refuse,
  type ValuesOf,
} from '#core/contract/parameters.ts'

/** More lines than this cannot be told apart in one chart. */
export const MOST_CHOSEN = 12

const LARGEST_WEIGHT = 1e6

const weightList: Parser<readonly number[]> = texts => {
  const weights = texts.flatMap(text => text.split(',')).map(Number)
  return weights.every(weight => weight >= 1 / LARGEST_WEIGHT && weight <= LARGEST_WEIGHT)
    ? { value: weights }
    : refuse(
        texts,
        `must be numbers from ${toText(1 / LARGEST_WEIGHT)} to ${LARGEST_WEIGHT}, separated by commas`,
      )
}

const weights: Parameter<readonly number[] | null> = {
  about: 'Weight of each strategy, in the order of `with`; equal weights if it is not given.',
  schema: { type: 'array', items: { type: 'number' } },
  initial: null,
  parse: weightList,
  print: values => values.map(toText).join(','),
}

const { risk_pct, from, to, ids } = PARAMETERS
const CHOICE = { risk_pct, from, to, with: ids, weights }

/** The strategies in their order, a weight for each or null for equal weights, and the risk level and range of the API. */
export type Choice = ValuesOf<typeof CHOICE>

export const NO_CHOICE: Choice = { risk_pct: null, from: null, to: null, with: null, weights: null }

/** The query of a choice, from the question mark on; empty without a choice. */
export const printChoice = (choice: Choice): string => canonicalUrl('', CHOICE, choice)

/** Reads an address. What cannot be used is left out, with a sentence for the reader. */
export function readChoice(
  query: URLSearchParams,
  known: ReadonlySet<string>,
): { readonly choice: Choice; readonly problems: readonly string[] } {
  const { values, problems } = readQuery(CHOICE, query)
  const refused = problems.map(
    ({ param, value, reason }) => `${param}=${value} in the address is not used: it ${reason}.`,
  )
  const given: Choice = { ...NO_CHOICE, ...values }
  const [chosen, unfit] = knownOnly(given, known)
  const isReversed = chosen.from !== null && chosen.to !== null && chosen.from > chosen.to
  if (!isReversed) return { choice: chosen, problems: [...refused, ...unfit] }
  const reversed = `The range is not used: ${toIsoDate(chosen.from!)} is later than ${toIsoDate(chosen.to!)}.`
  return { choice: { ...chosen, from: null, to: null }, problems: [...refused, ...unfit, reversed] }
}

function knownOnly(given: Choice, known: ReadonlySet<string>): [Choice, string[]] {
  const problems: string[] = []
  const names = given.with ?? []
  const fits = names.filter(id => known.has(id)).slice(0, MOST_CHOSEN)
  const unknown = names.filter(id => !known.has(id))
  if (unknown.length > 0) problems.push(`This version has no strategy ${unknown.join(', ').slice(0, 80)}.`)
  if (names.length - unknown.length > MOST_CHOSEN) {
    problems.push(
      `The address names more than ${MOST_CHOSEN} strategies: the first ${MOST_CHOSEN} are shown.`,
    )
  }
  const isWeighted = given.weights !== null && given.weights.length === names.length
  if (given.weights !== null && !isWeighted) {
    problems.push('The weights are not used: there must be one for each strategy.')
  }
  const weightOf = (id: string): number => given.weights![names.indexOf(id)]!
  return [
    {
      ...given,
      with: fits.length === 0 ? null : fits,
      weights: isWeighted && fits.length > 0 ? fits.map(weightOf) : null,
    },
    problems,
  ]
}
