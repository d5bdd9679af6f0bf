import { z } from 'zod'
import { EXIT_REASONS, type Trade } from '#core/replay/trade.ts'
import { parseDecimal } from './decimal.ts'
import { got } from './field.ts'
import { explainMoment, parseMoment, spellMoment } from './moment.ts'

// The fields of a ledger's row. `expected` is the text of the message when a value is refused.

const moment = z.string().transform((text, context) => {
  const ms = parseMoment(text)
  if (Number.isNaN(ms)) context.addIssue({ code: 'custom', params: { sentence: explainMoment(text) } })
  return ms
})

const decimal = (expected: string, isSound: (value: number) => boolean) =>
  z.string().transform(parseDecimal).refine(isSound).meta({ expected })

const blankOr = <Schema extends z.ZodType>(schema: Schema, expected: string) =>
  z.preprocess(text => (text === '' ? null : text), schema.nullable()).meta({ expected })

const PRICE = 'a price above 0'
const price = decimal(PRICE, value => value > 0)

/** Every column of a ledger as text, and what it becomes. */
export const tradeShape = {
  side: z.enum(['long', 'short']).meta({ expected: 'long or short' }),
  entry_time: moment,
  entry_price: price,
  exit_time: blankOr(moment, 'a time, or a blank for an open trade'),
  exit_price: blankOr(price, `${PRICE}, or a blank for an open trade`),
  exit_reason: blankOr(
    z.enum(EXIT_REASONS),
    `one of ${EXIT_REASONS.join(', ')}, or a blank for an open trade`,
  ),
  leverage: blankOr(
    decimal('', value => value > 0),
    'a number above 0 (notional / account equity at entry), or a blank',
  ),
  stop: blankOr(price, `${PRICE}, or a blank`),
  account_return: blankOr(
    decimal('', value => value >= -1),
    'a fraction of at least -1 (0.01 = +1 % of account equity), or a blank',
  ),
}

export const tradeSchema = z.object(tradeShape)

/** What is wrong between the fields of a trade, each of them sound by itself. */
export function explainTrade(trade: Trade, needsAccountReturn: boolean): string[] {
  const exits = [trade.exit_time, trade.exit_price, trade.exit_reason]
  if (exits.every(value => value === null)) return explainOpen(trade)
  if (exits.includes(null)) return [HALF_CLOSED]
  return [...explainExit(trade), ...explainSize(trade, needsAccountReturn)]
}

const HALF_CLOSED =
  'expected exit_time, exit_price and exit_reason together, or all three blank for an open trade, got some of them'

const explainOpen = ({ account_return }: Trade): string[] =>
  account_return === null
    ? []
    : [`account_return: expected a blank, because the trade is still open, got ${got(account_return)}`]

function explainExit({ entry_time, exit_time }: Trade): string[] {
  if (exit_time === null || exit_time >= entry_time) return []
  const [entry, exit] = [spellMoment(entry_time), spellMoment(exit_time)]
  return [`exit_time: expected a time not before entry_time ${entry}, got ${exit}`]
}

/** A trade can be marked when its leverage, or else its result, is known; see the marking of ledgers. */
function explainSize(trade: Trade, needsAccountReturn: boolean): string[] {
  const { leverage, stop, account_return, entry_price } = trade
  if (needsAccountReturn && account_return === null) {
    return ['account_return: expected the net return of the closed trade, got nothing']
  }
  if (leverage === null && account_return === null && stop === entry_price) {
    return [
      `stop: expected a price away from entry_price, because their distance gives the leverage, got ${stop}`,
    ]
  }
  if (leverage === null && stop === null && account_return === null) {
    return ['expected at least one of leverage, stop and account_return, got none of them']
  }
  return []
}
