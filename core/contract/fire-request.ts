// What the operator's interface takes for a signal, and how it becomes one. The same checks hold for the live
// runner.

import { z } from 'zod'
import { parseIsoInstant, toIsoInstant } from '#core/calendar.ts'
import type { ParameterProblem } from './errors.ts'
import { nearestTo } from './near-miss.ts'
import { ID_PATTERN } from './parameters.ts'
import { echo, invalidRequest, parseRequest } from './parse-request.ts'
import { impliedLeverage, instantText, MODES, SIGNAL_ACTIONS, type SignalContent } from './signal.ts'

/** Leverages that differ by less were computed in another order, not from other numbers. */
const LEVERAGE_TOLERANCE = 1e-6

/** The cap of a replay, unless its catalogue says otherwise: a higher leverage is a mistyped stop. */
const MOST_LEVERAGE = 15

/** Wider than any market, from the cheapest coin to the dearest: beyond it the decimal point slipped. */
const LEAST_PRICE = 1e-9
const MOST_PRICE = 1e12

/** A decision is not made in the future; clocks of two machines differ by less. */
const MOST_AHEAD_MS = 2_000

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
    action: z.enum(SIGNAL_ACTIONS).describe(`one of ${SIGNAL_ACTIONS.join(', ')}`),
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
  })
  .meta({ id: 'FireRequest' })

type FireRequest = z.output<typeof fireRequest>

/** The signal that a body describes, at `nowMs`. Throws a `validation_error` that lists every problem. */
export function parseFireRequest(body: unknown, aliases: ReadonlySet<string>, nowMs: number): SignalContent {
  const request = parseRequest(fireRequest, body, () => true)
  const problems = signalProblems(request, aliases, nowMs)
  if (problems.length > 0) throw invalidRequest(problems)
  const { signal_id, alias, mode, action, signal_price, stop, timestamp } = request
  const base_risk_pct = action === 'flat' ? 0 : request.base_risk_pct!
  const implied_leverage = action === 'flat' ? 0 : impliedLeverage(signal_price, stop, base_risk_pct)
  const content = { signal_id, alias, mode, is_test: false, action, signal_price, stop, base_risk_pct }
  return { ...content, timestamp, implied_leverage }
}

/** What is wrong with a signal whose fields are all there: the sizing identities of the specification. */
function signalProblems(
  request: FireRequest,
  aliases: ReadonlySet<string>,
  nowMs: number,
): ParameterProblem[] {
  const { alias, action, signal_price, stop, base_risk_pct, implied_leverage } = request
  const problems: ParameterProblem[] = []
  const refuse = (param: keyof FireRequest, reason: string) =>
    problems.push({ param, value: echo(request[param]), reason })
  if (!aliases.has(alias)) {
    const nearest = nearestTo(alias, [...aliases])
    const hint = nearest === null ? '' : `; did you mean '${nearest}'?`
    refuse('alias', `expected the id of a strategy of the served dataset${hint}`)
  }
  if (parseIsoInstant(request.timestamp)! > nowMs + MOST_AHEAD_MS)
    refuse('timestamp', `expected the moment of the decision, and it is only ${toIsoInstant(nowMs)}`)
  if (action === 'flat') {
    if ((base_risk_pct ?? 0) !== 0) refuse('base_risk_pct', 'a flat risks nothing: leave it out, or give 0')
    if ((implied_leverage ?? 0) !== 0)
      refuse('implied_leverage', 'a flat holds nothing: leave it out, or give 0')
    return problems
  }
  if (!((action === 'long' ? signal_price - stop : stop - signal_price) > 0)) {
    refuse('stop', `the stop of a ${action} must lie ${action === 'long' ? 'below' : 'above'} signal_price`)
  }
  if (base_risk_pct === undefined || base_risk_pct === 0) {
    refuse('base_risk_pct', 'an entry needs a fraction above 0, 0.02 is 2 %')
  } else if (problems.length === 0) {
    const expected = impliedLeverage(signal_price, stop, base_risk_pct)
    const given = implied_leverage ?? expected
    if (!(expected > 0 && expected <= MOST_LEVERAGE))
      refuse('stop', `it makes a leverage of ${expected}: expected above 0 and at most ${MOST_LEVERAGE}`)
    else if (given === 0 || Math.abs(given - expected) > LEVERAGE_TOLERANCE * expected)
      refuse('implied_leverage', `base_risk_pct over the distance of the stop is ${expected}`)
  }
  return problems
}
