// What a reader of the explorer chose, as the address of the page holds it: read and printed by the rules of the API.
import { toIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import {
  canonicalUrl,
  PARAMETERS,
  type Parameter,
  readQuery,
  refuse,
  type ValuesOf,
  wordParameter,
} from '#core/contract/parameters.ts'

/** More lines than this cannot be told apart in one chart. */
export const MOST_CHOSEN = 12

const LARGEST_WEIGHT = 1e6

const weights: Parameter<readonly number[] | null> = {
  about: 'Weight of each strategy, in the order of `with`; equal weights if it is not given.',
  schema: { type: 'array', items: { type: 'number' } },
  initial: null,
  parse(texts) {
    const weights = texts.flatMap(text => text.split(',')).map(Number)
    const isFine = weights.every(weight => weight >= 1 / LARGEST_WEIGHT && weight <= LARGEST_WEIGHT)
    const bounds = `from ${toText(1 / LARGEST_WEIGHT)} to ${LARGEST_WEIGHT}`
    return isFine ? { value: weights } : refuse(texts, `must be numbers ${bounds}, separated by commas`)
  },
  print: values => values.map(toText).join(','),
}

const { risk_pct, from, to, ids } = PARAMETERS
const days = wordParameter('Days of the figures: those that all chosen strategies have, or each its own.', [
  'common',
  'own',
])
export const CHOICE = { risk_pct, from, to, with: ids, weights, days }

/** The strategies in their order, a weight for each or null for equal weights, the risk level and range of the API, and whose days. */
export type Choice = ValuesOf<typeof CHOICE>

/** The query of a choice, from the question mark on; empty without a choice. */
export const printChoice = (choice: Choice): string => canonicalUrl('', CHOICE, choice)

/** Reads an address. What cannot be used is left out, with a sentence for the reader. */
export function readChoice(
  query: URLSearchParams,
  known: ReadonlySet<string>,
): { readonly choice: Choice; readonly problems: readonly string[] } {
  const { values: given, problems: refused } = readQuery(CHOICE, query)
  const problems = refused.map(
    ({ param, value, reason }) => `${param}=${value} in the address is not used: it ${reason}.`,
  )
  const names = given.with ?? []
  const unknown = names.filter(id => !known.has(id))
  if (unknown.length > 0) problems.push(`This version has no strategy ${unknown.join(', ').slice(0, 80)}.`)
  if (names.length - unknown.length > MOST_CHOSEN) {
    problems.push(
      `The address names more than ${MOST_CHOSEN} strategies: the first ${MOST_CHOSEN} are shown.`,
    )
  }
  const weights = given.weights?.length === names.length ? given.weights : null
  if (given.weights !== weights) {
    problems.push('The weights are not used: there must be one for each strategy.')
  }
  const fits = names.filter(id => known.has(id)).slice(0, MOST_CHOSEN)
  const { from, to } = given
  const isReversed = from !== null && to !== null && from > to
  if (isReversed) problems.push(`The range is not used: ${toIsoDate(from)} is later than ${toIsoDate(to)}.`)
  const range = isReversed ? { from: null, to: null } : { from, to }
  const fit = { ...range, with: fits.length === 0 ? null : fits }
  const weightOf = (id: string): number => weights![names.indexOf(id)]!
  return {
    choice: { ...given, ...fit, weights: weights === null || fits.length === 0 ? null : fits.map(weightOf) },
    problems,
  }
}
