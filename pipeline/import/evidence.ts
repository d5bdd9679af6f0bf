import { median, sampleCorrelation } from 'simple-statistics'
import { signOf } from '#core/replay/trade.ts'
import { type ForeignTrade, grossOf } from './account.ts'
import type { LedgerSpec } from './statement.ts'

// What the results of trades say about their sides and costs. A result is what the prices give, less fees, with funding, give or
// take the rounding of the file; whatever else it is, is refused.

/** Why results are refused; `row` is where, if it is in one. */
export type Fault = { readonly fault: string; readonly row: number | null }

/** Trades with the results that the account had, and what their costs are. */
type Judged = {
  readonly trades: readonly ForeignTrade[]
  /** In basis points of a fill. */
  readonly commission_bps: number
  /** Whether the fees of a trade are not those of this commission. */
  readonly feesVary: boolean
  /** Whether quantity times price is the size of a position. */
  readonly isSized: boolean
  /** Rows whose results are further from prices and costs than a build accepts by itself. */
  readonly roundedRows: readonly number[]
}

type Stated = Pick<LedgerSpec, 'results'> & {
  /** Of a fill, as stated, or as the file has it for all trades. */
  readonly commission_bps: number | null
  /** Whether the format says that results are after costs. */
  readonly isNet: boolean
  /** Whether results are of several instruments or contracts, and need not follow from prices. */
  readonly realised: boolean
}

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

/** Judges the results of trades that have quantity and result. */
export function judgeResults(trades: readonly ForeignTrade[], stated: Stated): Judged | Fault {
  const closed = trades.filter(({ exit_price }) => exit_price > 0)
  return judgeSides(trades) ?? explainUnknownCommission(closed, stated) ?? judgeCosts(trades, closed, stated)
}

/** Why results without columns of costs cannot be judged until a commission is stated; null if they can. */
function explainUnknownCommission(
  closed: readonly ForeignTrade[],
  { results, commission_bps, isNet }: Stated,
): Fault | null {
  if (hasCosts(closed) || commission_bps !== null) return null
  if (results === 'before-costs')
    return fault('expected the commission that results before costs lack, got none: state --commission-bps')
  const shown = commissionShown(closed)
  // Two results follow from any commission, and no exchange takes more than 1 %.
  const isDoubtful = shown > 100 || (closed.length < LEAST_RESULTS && shown > COMMISSION_BPS)
  if (isNet || !isDoubtful) return null
  return fault(
    `expected to know the commission, because ${closed.length} results that show ${shown} bp a fill are no evidence: state --commission-bps`,
  )
}

function judgeCosts(
  trades: readonly ForeignTrade[],
  closed: readonly ForeignTrade[],
  stated: Stated,
): Judged | Fault {
  const { results, realised } = stated
  const unit = unitOf(closed)
  const bps = stated.commission_bps ?? (hasCosts(closed) ? 0 : Math.max(commissionShown(closed), 0))
  const best = bestReading(closed, bps, unit)
  const { feesOf, costOf, restOf } = best
  const follows =
    best.far.length === 0 &&
    best.lean <=
      Math.max(
        COMMISSION_BPS,
        medianBps(closed, () => unit),
      )
  const beforeCosts = (): ForeignTrade[] =>
    trades.map(trade => ({ ...trade, fees: feesOf(trade), pnl: trade.pnl - costOf(trade) }))
  // Of lots and of several instruments quantities mean nothing: then what is stated counts.
  const isStated = results !== undefined && stated.commission_bps !== null
  if (realised && (follows ? results === 'after-costs' : isStated)) {
    const own = results === 'before-costs' ? beforeCosts() : trades
    return { trades: own, commission_bps: bps, feesVary: false, roundedRows: [], isSized: follows }
  }
  if (!follows) return explainRest(closed, best)
  const own = hasCosts(closed) ? roundBps(medianBps(closed, feesOf)) : bps
  const commission_bps = stated.commission_bps ?? own
  const isPaid = closed.some(trade => (1e4 * Math.abs(costOf(trade))) / turnoverOf(trade) > COMMISSION_BPS)
  const isGross = isPaid && best.hasFees + best.hasFunding === 0
  const wrong = explainStatement(closed, stated, { ...best, isPaid, isGross, own, commission_bps })
  if (wrong !== null) return fault(wrong)
  return {
    trades: isGross ? beforeCosts() : trades.map(trade => ({ ...trade, fees: feesOf(trade) })),
    commission_bps,
    isSized: true,
    feesVary: closed.some(
      trade => Math.abs(feesOf(trade) - feesAt(trade, commission_bps)) > slackOf(trade, unit),
    ),
    roundedRows: closed
      .filter(trade => 1e4 * Math.abs(restOf(trade)) > DUST_BPS * trade.quantity * trade.entry_price)
      .map(({ row }) => row),
  }
}

/** What may be in a result: fees and funding. */
const CONTENTS = [
  [1, 1],
  [0, 0],
  [1, 0],
] as const

/** A way to read results: what is in them, what a trade cost then, and what is left unexplained. */
type Explanation = ReturnType<typeof bestReading>

/** The reading that leaves the fewest results, and then the least, unexplained. */
function bestReading(closed: readonly ForeignTrade[], bps: number, unit: number) {
  const readings = signsOf(closed).flatMap(sign =>
    CONTENTS.map(([hasFees, hasFunding]) => {
      const feesOf = (trade: ForeignTrade): number =>
        Number.isNaN(trade.fees) ? feesAt(trade, bps) : sign * trade.fees
      const costOf = (trade: ForeignTrade): number => feesOf(trade) - (trade.funding || 0)
      const restOf = (trade: ForeignTrade): number =>
        trade.pnl - grossOf(trade) + hasFees * feesOf(trade) - hasFunding * (trade.funding || 0)
      const far = closed.filter(trade => Math.abs(restOf(trade)) > slackOf(trade, unit))
      const all = closed.reduce((sum, trade) => sum + Math.abs(restOf(trade)), 0)
      const lean = Math.abs(medianBps(closed, restOf))
      return { hasFees, hasFunding, feesOf, costOf, restOf, far, all, lean }
    }),
  )
  return readings.reduce((a, b) => ((b.far.length - a.far.length || b.all - a.all) < 0 ? b : a))
}

/** Why results that are explained are not what is stated, or leave open what they are; null if neither. */
function explainStatement(
  closed: readonly ForeignTrade[],
  { results, isNet, commission_bps: stated }: Stated,
  found: Pick<Explanation, 'hasFees' | 'hasFunding'> &
    Readonly<Record<'isPaid' | 'isGross', boolean> & Record<'own' | 'commission_bps', number>>,
): string | null {
  const { isPaid, isGross, own, commission_bps } = found
  if (isPaid && found.hasFees + found.hasFunding === 1 && closed.some(({ funding }) => funding))
    return 'expected results after fees and funding, or before both, got ones with the fees alone: bring a column with the whole result'
  if (isGross && results !== 'before-costs')
    return 'expected results after costs, got ones before the fees and the funding: state --results before-costs (results:)'
  if (!isGross && hasCosts(closed) && results === 'before-costs')
    return 'expected results before costs, and costs that are paid from the account, got ones after them, or costs of next to nothing: correct the columns of fees and funding, or leave out --results (results:)'
  if (!isPaid && stated === null && !isNet && results === undefined && closed.length > 0)
    return 'expected results after costs, got exactly what the prices give: state --commission-bps 0 if nothing was paid, or --results before-costs with --commission-bps (results:)'
  if (hasCosts(closed) && Math.abs(own - commission_bps) > COMMISSION_BPS)
    return `expected the commission of ${commission_bps} bp a fill that is stated, got fees of ${own} bp: leave out --commission-bps, or state what the column of the fees is`
  return null
}

function explainRest(
  closed: readonly ForeignTrade[],
  { far, restOf }: Pick<Explanation, 'far' | 'restOf'>,
): Fault {
  const [first = closed[0]!] = far
  const wanted = Number((first.pnl - restOf(first)).toPrecision(8))
  const shown = commissionShown(closed)
  const hint = shown > 0 ? `; without columns of costs they show a commission of ${shown} bp a fill` : ''
  return {
    fault: `expected results that follow from prices, fees and funding, got ${far.length || 'all'} of ${closed.length} that do not, such as ${first.pnl} for ${wanted}${hint}: state --commission-bps, --results before-costs (results:), or the columns with --column fees=NAME and --column funding=NAME (columns:); of lots and contracts take the account with --realised, --results and --commission-bps`,
    row: far.length > 0 ? first.row : null,
  }
}

/** Why the sides contradict the results, or the contract is another kind; null if neither. */
export function judgeSides(trades: readonly ForeignTrade[]): Fault | null {
  const closed = trades.filter(({ exit_price, pnl }) => exit_price > 0 && !Number.isNaN(pnl))
  const moved = closed.filter(
    ({ entry_price, exit_price }) => Math.abs(exit_price / entry_price - 1) > LEAST_MOVE,
  )
  // What was paid is not the fault of the prices.
  const earned = ({ pnl, fees, funding }: ForeignTrade): number => pnl + Math.abs(fees || 0) - (funding || 0)
  const against = moved.filter(trade => grossOf(trade) * earned(trade) < 0)
  if (against.length > MOST_AGAINST * moved.length || runsAgainst(closed.map(grossOf), closed.map(earned)))
    return {
      fault: `the sides contradict the results in ${against.length || 'most'} of ${closed.length} trades: is this the side of the closing order? State the column with the side of the position`,
      row: against[0]?.row ?? null,
    }
  if (moved.length === 0 || moved.filter(looksInverse).length * 2 < moved.length) return null
  return {
    fault:
      'expected results in the currency of the prices, got those of an inverse contract, whose quantity is in the currency of the prices and whose result is in the coin: bring the account as daily returns with `highwater import returns`',
    row: moved[0]!.row,
  }
}

/** Whether results fall where prices gain: costs lower results, and do not turn them around. */
function runsAgainst(gross: number[], earned: number[]): boolean {
  if (gross.length < LEAST_RESULTS) return false
  const isSteady = new Set(earned).size === 1 || new Set(gross).size === 1
  if (isSteady) return gross.reduce((sum, each, i) => sum + each * earned[i]!, 0) < 0
  return sampleCorrelation(gross, earned) < 0
}

function looksInverse({ side, quantity, entry_price, exit_price, pnl }: ForeignTrade): boolean {
  const coins = quantity * signOf(side) * (1 / entry_price - 1 / exit_price)
  return Math.abs(pnl - coins) < LEAST_MOVE * (quantity / entry_price)
}

const fault = (message: string): Fault => ({ fault: message, row: null })

const roundBps = (bps: number): number => Math.round(100 * bps) / 100 + 0 // no -0

const turnoverOf = ({ quantity, entry_price, exit_price }: ForeignTrade): number =>
  quantity * (entry_price + (exit_price > 0 ? exit_price : 0))

const feesAt = (trade: ForeignTrade, bps: number): number => (bps / 1e4) * turnoverOf(trade)

/** Whether fees are spelled as costs (1) or as losses (-1): with rebates among them both are tried. */
const signsOf = (trades: readonly ForeignTrade[]): number[] =>
  [1, -1].filter(sign =>
    sign === 1
      ? !trades.some(({ fees }) => fees < 0) || trades.some(({ fees }) => fees > 0)
      : trades.some(({ fees }) => fees < 0),
  )

/** Whether the file has fees or funding of its trades. */
const hasCosts = (closed: readonly ForeignTrade[]): boolean =>
  closed.some(({ fees, funding }) => !Number.isNaN(fees) || !Number.isNaN(funding))

/** The commission that most results show, in basis points of a fill. */
const commissionShown = (closed: readonly ForeignTrade[]): number =>
  roundBps(medianBps(closed, trade => grossOf(trade) - trade.pnl))

/** A unit of the last decimal of results; fees and funding beside them are rounded as well. */
const unitOf = (trades: readonly ForeignTrade[]): number =>
  10 ** -trades.reduce((most, { cell }) => Math.max(most, (/\.(\d+)/.exec(cell('pnl'))?.[1] ?? '').length), 0)

/** How far a result may be from what prices and costs give. */
const slackOf = ({ quantity, entry_price }: ForeignTrade, unit: number): number =>
  Math.max(2 * unit, (MOST_BPS / 1e4) * quantity * entry_price)

/** The median of amounts in basis points of a fill. */
const medianBps = (closed: readonly ForeignTrade[], amountOf: (trade: ForeignTrade) => number): number =>
  closed.length === 0 ? 0 : median(closed.map(trade => (1e4 * amountOf(trade)) / turnoverOf(trade)))
