import { median, sampleCorrelation, sum } from 'simple-statistics'
import { refuse } from '../table/lines.ts'
import type { ForeignTrade } from './account.ts'
import type { LedgerRules } from './statement.ts'

// What the results of trades say about their sides and costs. A result is what the prices give, less fees, with funding, give or
// take the rounding of the file; whatever else it is, is refused: `UnreadableFile` is thrown.

/** A result may be lost in costs and slippage where the price moves by less than this share. */
const LEAST_MOVE = 0.004

/** Tools round; a result that is further from prices and costs than this share of the position needs another explanation. */
const MOST_BPS = 5

/** A build accepts by itself what is nearer. */
const DUST_BPS = 1

/** Fewer results are no pattern. */
const LEAST_RESULTS = 3

/** A commission that differs by more is another one. */
const COMMISSION_BPS = 0.1

/** The share of trades that may lose more in costs than their prices gain. */
const MOST_AGAINST = 0.25

/**
 * Trades that have quantity and result with the results that the account had, and their commission in basis points of a fill.
 * Fees are NaN where they are those of the commission, and notionals where quantities are not in the unit of the prices. `isNet` is
 * whether the format says that results are after costs.
 */
export function judgeResults(trades: readonly ForeignTrade[], stated: LedgerRules, isNet: boolean) {
  judgeSides(trades)
  const { results, realised } = stated
  const found = evidenceOf(trades, stated)
  const { closed, follows, unit } = found
  // Of lots and of several instruments quantities mean nothing: then what is stated counts.
  const isStated = results !== undefined && stated.commission_bps !== null
  const isTaken = realised && (follows ? results === 'after-costs' : isStated)
  const wrong = explain(found, stated, isNet, isTaken)
  if (wrong !== null) refuse(wrong)

  const isGross = isTaken ? results === 'before-costs' : found.isGross
  const commission_bps = stated.commission_bps ?? found.own
  const hasOwnFees = ({ fees, turnover }: Line): boolean =>
    Math.abs(fees - (commission_bps / 1e4) * turnover) > Math.max(2 * unit, (COMMISSION_BPS / 1e4) * turnover)
  const feesVary = !isTaken && closed.some(hasOwnFees)
  const isRounded = ({ rest, notional }: Line): boolean => 1e4 * Math.abs(rest) > DUST_BPS * notional
  return {
    trades: found.lines.map(line => ({
      ...line,
      pnl: isGross ? line.pnl - line.cost : line.pnl,
      fees: feesVary ? line.fees : Number.NaN,
      notional: follows ? line.notional : Number.NaN,
    })),
    commission_bps,
    /** Rows whose results are further from prices and costs than a build accepts by itself. */
    roundedRows: realised ? [] : closed.filter(isRounded).map(({ row }) => row),
  }
}

/** How results are read, whether that explains them, and what was paid. */
function evidenceOf(trades: readonly ForeignTrade[], { commission_bps }: LedgerRules) {
  const known = trades.filter(isClosed)
  const hasCosts = known.some(({ fees, funding }) => !Number.isNaN(fees) || !Number.isNaN(funding))
  const shown = roundBps(medianBps(known, ({ gross, pnl }) => gross - pnl))
  const bps = commission_bps ?? (hasCosts ? 0 : Math.max(shown, 0))
  const unit = unitOf(known)
  const best = bestReading(trades, bps, unit)
  const { closed, far, hasFees } = best
  const lean = Math.abs(medianBps(closed, ({ rest }) => rest))
  const roughness = medianBps(closed, () => unit)
  const follows = far.length === 0 && lean <= Math.max(COMMISSION_BPS, roughness)
  const isPaid = closed.some(({ cost, turnover }) => (1e4 * Math.abs(cost)) / turnover > COMMISSION_BPS)
  const own = hasCosts ? roundBps(medianBps(closed, ({ fees }) => fees)) : bps
  return { ...best, unit, hasCosts, shown, follows, isPaid, isGross: isPaid && hasFees === 0, own }
}

/** A trade as it is read: its fees as costs, what it cost with funding, what is left unexplained, and how much may be. */
type Line = ForeignTrade & Readonly<Record<'cost' | 'rest' | 'slack', number>>

/** What may be in a result: fees, and funding. */
const CONTENTS = [
  [1, 1],
  [0, 0],
  [1, 0],
] as const

/** The reading that leaves the fewest results, and then the least, unexplained. */
function bestReading(trades: readonly ForeignTrade[], bps: number, unit: number) {
  // Fees are spelled as costs or as losses: with rebates among them both are tried.
  const signs = new Set(trades.map(({ fees }) => Math.sign(fees)))
  const tried = [1, -1].filter(sign => signs.has(sign) || !signs.has(-sign))
  const readings = tried.flatMap(sign =>
    CONTENTS.map(([hasFees, hasFunding]) => {
      const lines = trades.map((trade): Line => {
        const fees = Number.isNaN(trade.fees) ? (bps / 1e4) * trade.turnover : sign * trade.fees
        const funding = trade.funding || 0
        const slack = Math.max(2 * unit, (MOST_BPS / 1e4) * trade.notional)
        const rest = trade.pnl - trade.gross + hasFees * fees - hasFunding * funding
        return { ...trade, fees, cost: fees - funding, slack, rest }
      })
      const closed = lines.filter(isClosed)
      const far = closed.filter(({ rest, slack }) => Math.abs(rest) > slack)
      return { hasFees, hasFunding, lines, closed, far, left: sum(closed.map(({ rest }) => Math.abs(rest))) }
    }),
  )
  return readings.reduce((a, b) => ((b.far.length - a.far.length || b.left - a.left) < 0 ? b : a))
}

type Evidence = ReturnType<typeof evidenceOf>

/** Why results are not what is stated, or leave open what they are; null if they are beyond doubt. Throws if they are not explained. */
function explain(found: Evidence, stated: LedgerRules, isNet: boolean, isTaken: boolean): string | null {
  const { closed, far, follows, hasCosts, isPaid, isGross, shown, own } = found
  const { results, commission_bps } = stated
  const isUnknown = !hasCosts && commission_bps === null
  if (isUnknown && results === 'before-costs')
    return 'expected the commission that results before costs lack, got none: state --commission-bps'
  // Two results follow from any commission, and no exchange takes more than 1 %.
  if (isUnknown && !isNet && (shown > 100 || (closed.length < LEAST_RESULTS && shown > COMMISSION_BPS)))
    return `expected to know the commission, because ${closed.length} results that show ${shown} bp a fill are no evidence: state --commission-bps`
  if (isTaken) return null
  if (!follows) {
    const { pnl, rest } = far[0] ?? closed[0]!
    const hint = shown > 0 ? `; without columns of costs they show a commission of ${shown} bp a fill` : ''
    refuse(
      `expected results that follow from prices, fees and funding, got ${far.length || 'all'} of ${closed.length} that do not, such as ${pnl} for ${Number((pnl - rest).toPrecision(8))}${hint}: state --commission-bps, --results before-costs, or the columns with --column fees=NAME and --column funding=NAME; of lots and contracts take the account with --realised, --results and --commission-bps`,
      far[0]?.row ?? null,
    )
  }
  if (isPaid && found.hasFees > found.hasFunding && closed.some(({ funding }) => funding))
    return 'expected results after fees and funding, or before both, got ones with the fees alone: bring a column with the whole result'
  if (isGross && results !== 'before-costs')
    return 'expected results after costs, got ones before the fees and the funding: state --results before-costs'
  if (!isGross && (hasCosts || isPaid) && results === 'before-costs')
    return 'expected results before costs, and costs that are paid from the account, got ones after them, or costs of next to nothing: correct the columns of fees and funding, or leave out --results'
  if (!isPaid && commission_bps === null && !isNet && results === undefined && closed.length > 0)
    return 'expected results after costs, got exactly what the prices give: state --commission-bps 0 if nothing was paid, or --results before-costs with --commission-bps'
  if (hasCosts && commission_bps !== null && Math.abs(own - commission_bps) > COMMISSION_BPS)
    return `expected the commission of ${commission_bps} bp a fill that is stated, got fees of ${own} bp: leave out --commission-bps, or state what the column of the fees is`
  return null
}

/** Judges the sides, and whether the contract is of another kind, by the results that are known. */
export function judgeSides(trades: readonly ForeignTrade[]): void {
  // What was paid is not the fault of the prices.
  const closed = trades
    .filter(trade => isClosed(trade) && !Number.isNaN(trade.pnl))
    .map(trade => ({ ...trade, earned: trade.pnl + Math.abs(trade.fees || 0) - (trade.funding || 0) }))
  const moved = closed.filter(trade => Math.abs(trade.exit_price / trade.entry_price - 1) > LEAST_MOVE)
  const against = moved.filter(({ gross, earned }) => gross * earned < 0)
  if (against.length > MOST_AGAINST * moved.length || runsAgainst(closed))
    refuse(
      `the sides contradict the results in ${against.length || 'most'} of ${closed.length} trades: is this the side of the closing order? State the column with the side of the position`,
      against[0]?.row ?? null,
    )
  if (moved.length > 0 && moved.filter(looksInverse).length * 2 >= moved.length)
    refuse(
      'expected results in the currency of the prices, got those of an inverse contract, whose quantity is in the currency of the prices and whose result is in the coin: bring the account as daily returns with `highwater import returns`',
      moved[0]!.row,
    )
}

/** Whether results fall where prices gain: costs lower results, and do not turn them around. */
function runsAgainst(closed: readonly Readonly<Record<'gross' | 'earned', number>>[]): boolean {
  if (closed.length < LEAST_RESULTS) return false
  const [gross, earned] = [closed.map(trade => trade.gross), closed.map(trade => trade.earned)]
  const isSteady = new Set(earned).size === 1 || new Set(gross).size === 1
  return isSteady
    ? sum(closed.map(trade => trade.gross * trade.earned)) < 0
    : sampleCorrelation(gross, earned) < 0
}

const looksInverse = ({ quantity, entry_price, exit_price, pnl, gross }: ForeignTrade): boolean =>
  Math.abs(pnl - gross / (entry_price * exit_price)) < LEAST_MOVE * (quantity / entry_price)

const isClosed = ({ exit_time }: ForeignTrade): boolean => exit_time !== null

const roundBps = (bps: number): number => Math.round(100 * bps) / 100 + 0 // no -0

/** A unit of the last decimal of results; fees and funding beside them are rounded as well. */
const unitOf = (trades: readonly ForeignTrade[]): number =>
  10 ** -trades.reduce((most, { cell }) => Math.max(most, (/\.(\d+)/.exec(cell('pnl'))?.[1] ?? '').length), 0)

function medianBps<T extends ForeignTrade>(closed: readonly T[], amountOf: (trade: T) => number): number {
  return closed.length === 0 ? 0 : median(closed.map(trade => (1e4 * amountOf(trade)) / trade.turnover))
}
