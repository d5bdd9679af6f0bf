// What the operator's interface takes for a signal, and how it becomes one. The same checks hold for the live
// runner.

import { z } from 'zod'
import { parseIsoInstant, toIsoInstant } from '#core/calendar.ts'
import type { ParameterProblem } from './errors.ts'
import { didYouMean } from './near-miss.ts'
import { ID_PATTERN } from './parameters.ts'
import { echo, invalidRequest, parseRequest } from './parse-request.ts'
import { word } from './payloads/field.ts'
import { impliedLeverage, instantText, MODES, SIGNAL_ACTIONS, type SignalContent } from './signal.ts'

/** Leverages and risks that differ by less were computed in another order, not from other numbers. */
const TOLERANCE = 1e-6

/** The cap of a replay, unless its catalogue says otherwise: a higher leverage is a mistyped stop. */
const MOST_LEVERAGE = 15

/** Wider than any market, from the cheapest coin to the dearest: beyond it the decimal point slipped. */
const LEAST_PRICE = 1e-9
const MOST_PRICE = 1e12

const price = z
  .number()
  .min(LEAST_PRICE)
  .max(MOST_PRICE)
  .describe(`a price from ${LEAST_PRICE} to ${MOST_PRICE}`)

/** `POST /ops/signals`. */
export const fireRequest = z
  .strictObject({
    signal_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,128}$/)
      .describe('1 to 128 letters, digits, - and _: the same id again is the same signal'),
    alias: z.string().regex(ID_PATTERN).describe('the id of a strategy of the served dataset'),
    action: word(`one of ${SIGNAL_ACTIONS.join(', ')}`, SIGNAL_ACTIONS),
    signal_price: price,
    stop: price,
    base_risk_pct: z.number().min(0).max(1).optional().describe('a fraction from 0 to 1, 0.02 is 2 %'),
    timestamp: instantText
      .refine(text => parseIsoInstant(text) !== null)
      .describe('a UTC instant such as 2026-11-21T00:00:00Z'),
    is_test: z
      .literal(false)
      .optional()
      .describe('false, or nothing: a test is fired with `highwater ops test CLIENT`'),
    mode: z
      .enum(MODES)
      .default('LIVE')
      .describe(`one of ${MODES.join(', ')}`),
    implied_leverage: z.number().min(0).optional().describe('base_risk_pct over the distance of the stop'),
    by_hand: z
      .boolean()
      .default(false)
      .describe('true or false: fire although the live runner fires the strategy'),
  })
  .meta({ id: 'FireRequest' })

type FireRequest = z.output<typeof fireRequest>

/** What is served: a fire is checked against it. */
type Served = {
  readonly aliases: () => ReadonlySet<string>
  /** The base risk of a strategy in the catalogue; undefined if it is not known. */
  readonly baseRiskOf: (alias: string) => number | undefined
}

export type FireOrder = { readonly content: SignalContent; readonly isByHand: boolean }

/**
 * The signal that a body describes, fired by an operator; `served` is null if it was fired before, when another version may
 * have been served. Throws a `validation_error` that lists every problem.
 */
export function parseFireRequest(
  body: unknown,
  operator: string,
  served: Served | null,
  nowMs: number,
): FireOrder {
  const request = parseRequest(fireRequest, body, () => true)
  const problems = signalProblems(request, served, nowMs)
  if (problems.length > 0) throw invalidRequest(problems)
  const { signal_id, alias, mode, action, signal_price, stop, timestamp, by_hand } = request
  const base_risk_pct = action === 'flat' ? 0 : request.base_risk_pct!
  const implied_leverage = action === 'flat' ? 0 : impliedLeverage(signal_price, stop, base_risk_pct)
  const sized = { signal_id, alias, mode, is_test: false, action, signal_price, stop, base_risk_pct }
  const evidence = { by: `operator:${operator}`, why: action === 'flat' ? 'operator' : undefined } as const
  return { content: { ...sized, timestamp, implied_leverage, ...evidence }, isByHand: by_hand }
}

type Refuse = (param: keyof FireRequest, reason: string) => void

/** What is wrong with a signal whose fields are all there: the sizing identities of the specification. */
function signalProblems(request: FireRequest, served: Served | null, nowMs: number): ParameterProblem[] {
  const { alias, action } = request
  const aliases = served?.aliases()
  const problems: ParameterProblem[] = []
  const refuse: Refuse = (param, reason) => problems.push({ param, value: echo(request[param]), reason })
  if (aliases?.has(alias) === false)
    refuse('alias', `expected the id of a strategy of the served dataset${didYouMean(alias, aliases)}`)
  // A decision is not made in the future; clocks of two machines differ by less.
  if (parseIsoInstant(request.timestamp)! > nowMs + 2_000)
    refuse('timestamp', `expected the moment of the decision, and it is only ${toIsoInstant(nowMs)}`)
  if (action === 'flat') checkFlat(request, refuse)
  else checkEntry(request, served?.baseRiskOf(alias), refuse)
  return problems
}

function checkFlat({ base_risk_pct, implied_leverage }: FireRequest, refuse: Refuse): void {
  if ((base_risk_pct ?? 0) !== 0) refuse('base_risk_pct', 'a flat risks nothing: leave it out, or give 0')
  if ((implied_leverage ?? 0) !== 0)
    refuse('implied_leverage', 'a flat holds nothing: leave it out, or give 0')
}

function checkEntry(
  { action, signal_price, stop, base_risk_pct: risk = 0, implied_leverage }: FireRequest,
  ofCatalogue: number | undefined,
  refuse: Refuse,
): void {
  const isStopBeyond = (action === 'long' ? signal_price - stop : stop - signal_price) > 0
  if (!isStopBeyond)
    refuse('stop', `the stop of a ${action} must lie ${action === 'long' ? 'below' : 'above'} signal_price`)
  if (risk === 0) refuse('base_risk_pct', 'an entry needs a fraction above 0, 0.02 is 2 %')
  else if (ofCatalogue !== undefined && !isNear(risk, ofCatalogue))
    refuse(
      'base_risk_pct',
      `expected that of the catalogue, ${ofCatalogue}, got ${risk}: give that, or publish the other one first`,
    )
  if (!isStopBeyond || risk === 0) return
  const expected = impliedLeverage(signal_price, stop, risk)
  const given = implied_leverage ?? expected
  if (!(expected > 0 && expected <= MOST_LEVERAGE))
    refuse('stop', `it makes a leverage of ${expected}: expected above 0 and at most ${MOST_LEVERAGE}`)
  else if (given === 0 || !isNear(given, expected))
    refuse('implied_leverage', `base_risk_pct over the distance of the stop is ${expected}`)
}

const isNear = (given: number, expected: number): boolean =>
  Math.abs(given - expected) <= TOLERANCE * expected
