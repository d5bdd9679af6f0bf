import { median } from 'simple-statistics'
import type { Bars } from '#core/replay/bars.ts'
import type { Side } from '#core/replay/strategy.ts'
import { type Origin, originOf } from '../table/mapped.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from './cell.ts'
import { got } from './field.ts'
import type { LedgerSpec } from './file-spec.ts'
import { fitOpens } from './fit-opens.ts'
import type { LedgerRow } from './read-ledger.ts'
import { type ReadTrades, readTrades, type TradeRecord } from './read-trades.ts'
import { type Reading, type Report, reporterOf } from './reading.ts'
import { createTally } from './repair.ts'
import {
  type AccountTrade,
  deviationOf,
  explainTotals,
  type ForeignTrade,
  grossOf,
  realisedReturns,
  sizeTrades,
  type Totals,
  totalsOf,
} from './trade-money.ts'
import { parseZone, UTC, type Zone } from './zone.ts'

/** Trades of a file from elsewhere as rows of a ledger, texts in the order of its columns. */
export type ImportedLedger = Origin & {
  readonly rows: readonly LedgerRow[]
  /** Null if the file has no amounts: then the results are its own fractions. */
  readonly account: {
    readonly trades: readonly AccountTrade[]
    readonly totals: Totals
    /** Without the value of open trades. */
    readonly daily: ReturnType<typeof realisedReturns>
  } | null
  /** What the results show, in basis points of a fill; null if they do not. */
  readonly commission_bps: number | null
  /** How far a result is from what prices and commission give, in basis points of notional: tools round. */
  readonly deviation_bps: number
  readonly symbols: readonly string[]
}

type Rules = LedgerSpec & {
  /** Where they are known, the zone of times without one is checked against them. */
  readonly bars: Bars | null
  /** The commission of a fill in basis points, null if the file has to show it. */
  readonly commission_bps: number | null
  /** Whether the trades are of several instruments, and open ones are not valued. */
  readonly realised: boolean
}

/** Reads the trades of a file from elsewhere. Null if there is a problem; all are reported. */
export async function importLedger(reading: Reading, rules: Rules): Promise<ImportedLedger | null> {
  const path = rules.path[0] ?? ''
  const [tally, report] = [createTally(), reporterOf(reading, path)]
  const read = await readTrades(reading, rules, tally)
  if (read === null) return null
  const zone = rules.tz === undefined ? null : parseZone(rules.tz)
  const local = read.records.filter(({ cell }) => isLocal(cell('entry_time')))
  const misfit = local.length === 0 ? null : explainZone(local, zone, rules.bars)
  if (misfit !== null) return report(misfit, local[0]?.row)
  const trades = read.records.map(record => toTrade(record, zone, report))
  if (reading.problems.has(path)) return null
  const closedByTool = read.records.filter(({ cell }) => /^force_(?:exit|sell)$/.test(cell('exit_reason')))
  tally.count('open_at_end', closedByTool.length)

  const sized = toAccount(trades, read, rules, report)
  if (sized === null) return null
  return {
    ...sized,
    ...originOf(reading, [read.file], tally, path),
    rows: trades.map((trade, i) => ({ fields: toFields(trade, sized.account?.trades[i]), row: trade.row })),
    deviation_bps: deviationOf(trades, sized.commission_bps ?? 0),
    symbols: [...new Set(trades.map(({ cell }) => cell('symbol')))].filter(symbol => symbol !== ''),
  }
}

function toTrade({ row, cell }: TradeRecord, zone: Zone | null, report: Report): ForeignTrade {
  const amount = (role: string): number => parseDecimal(cell(role))
  const price = (role: string): number => {
    if (!(amount(role) > 0)) report(`${role}: expected a price above 0, got ${got(cell(role))}`, row)
    return amount(role)
  }
  const time = (role: string): number => {
    const ms = parseForeignMoment(cell(role), zone)
    if (Number.isNaN(ms)) report(`${role}: ${explainForeignMoment(cell(role), zone)}`, row)
    return ms
  }
  const isOpen = cell('exit_time') === '' || cell('is_open') === 'true'
  const side = sideOf(cell('side'), cell('is_short'), amount('quantity'))
  if (side === undefined)
    report(
      `side: expected long or short, or the sign of a quantity, got ${got(cell('side') || cell('quantity'))}`,
      row,
    )
  return {
    ...{ row, cell, side: side ?? 'long' },
    ...{ entry_time: time('entry_time'), entry_price: price('entry_price') },
    exit_time: isOpen ? null : time('exit_time'),
    exit_price: isOpen ? Number.NaN : price('exit_price'),
    ...{ quantity: Math.abs(amount('quantity')), commission: amount('commission') },
    pnl: isOpen && cell('pnl') === '' ? 0 : amount('pnl'),
    cumulative_pct: amount('cumulative_pct'),
  }
}

const SIDES: Readonly<Record<string, Side>> = { long: 'long', buy: 'long', short: 'short', sell: 'short' }

function sideOf(side: string, isShort: string, quantity: number): Side | undefined {
  if (side !== '') return SIDES[side.toLowerCase()]
  if (isShort !== '') return isShort === 'true' ? 'short' : 'long'
  return quantity > 0 ? 'long' : quantity < 0 ? 'short' : undefined
}

const isLocal = (text: string): boolean =>
  Number.isNaN(parseForeignMoment(text, null)) && !Number.isNaN(parseForeignMoment(text, UTC))

/** A share of entries at the opens of their bars that a wrong zone does not reach by chance. */
const CONVINCING = 0.5

/**
 * Why the zone cannot be what is stated, or what to state: a zone is never guessed. Null if it is beyond doubt. A stated one is
 * plausible unless another one is convincing and has more than twice as many entries at opens.
 */
function explainZone(local: readonly TradeRecord[], zone: Zone | null, bars: Bars | null): string | null {
  const entries = local.map(({ cell }) => ({
    t: parseForeignMoment(cell('entry_time'), UTC),
    prices: [parseDecimal(cell('entry_price'))],
  }))
  const fit = bars && fitOpens(entries, bars)
  const { offset, share } = fit?.bestOf([]) ?? { offset: 0, share: 0 }
  const spelled = `${offset < 0 ? '-' : '+'}${new Date(Math.abs(offset)).toISOString().slice(11, 16)}`
  const best = `the bars fit ${spelled} with ${Math.round(100 * share)} % of the entries`
  const isConvincing = share >= CONVINCING
  if (zone === null)
    return `entry_time: expected a zone for ${got(local[0]?.cell('entry_time'))}, which has none: ${isConvincing ? best : 'state the zone of the chart'}; confirm it with --tz (tz: in the catalogue)`
  const own = fit?.shareIn(zone.instantsOf) ?? 1
  return !isConvincing || own * 2 >= share
    ? null
    : `entry_time: expected entries that fit the bars in ${zone.name}, got ${Math.round(100 * own)} % that do, and ${best}: correct --tz (tz:)`
}

/** The account of the trades, if the file has amounts. */
function toAccount(trades: readonly ForeignTrade[], { stated }: ReadTrades, rules: Rules, report: Report) {
  const hasAmounts =
    trades.length > 0 && trades.every(({ quantity, pnl }) => quantity > 0 && Number.isFinite(pnl))
  if (!hasAmounts) {
    const lacking = trades.find(({ cell }) => OWN.every(role => cell(role) === ''))
    if (lacking !== undefined) return report(EXPECTED_AMOUNTS, lacking.row)
    return { account: null, commission_bps: rules.commission_bps }
  }
  const capital = rules.capital ?? stated.starting_balance
  if (capital === null) return report(EXPECTED_CAPITAL)
  const commission_bps = rules.commission_bps ?? commissionOf(trades)
  if (!(commission_bps >= 0)) return report(EXPECTED_NET)
  const feeRate = commission_bps / 10_000
  const sized = sizeTrades(trades, { capital, feeRate, realised: rules.realised })
  const ruined = sized.findIndex(({ base }) => !(base > 0))
  if (ruined >= 0)
    return report(
      `expected an account above 0 at the entry, got ${sized[ruined]!.base}: correct the capital`,
      trades[ruined]!.row,
    )
  const fault = explainTotals(trades, stated, capital)
  if (fault !== null) return report(fault)
  const [totals, daily] = [totalsOf(trades, capital), realisedReturns(trades, capital)]
  return { account: { trades: sized, totals, daily }, commission_bps }
}

const OWN = ['leverage', 'stop', 'account_return'] as const

const EXPECTED_AMOUNTS =
  'expected a quantity and a profit of each trade, or leverage, stop or account_return, got none of them: state their columns with --column (columns:)'

const EXPECTED_CAPITAL =
  'expected the capital at the start, which is not in the file: state it with --capital (capital: in the catalogue)'

const EXPECTED_NET =
  'expected results net of a commission, got ones above what the prices give: state --commission-bps'

/** The commission of a fill in basis points that the file states, or that most of its results show. */
function commissionOf(trades: readonly ForeignTrade[]): number {
  const fee = parseDecimal(trades[0]?.cell('fee') ?? '')
  if (Number.isFinite(fee)) return fee * 10_000
  const rates = trades.flatMap(trade => {
    const turnover = trade.quantity * (trade.entry_price + trade.exit_price)
    const paid = Number.isFinite(trade.commission) ? trade.commission : grossOf(trade) - trade.pnl
    return trade.exit_price > 0 ? [(10_000 * paid) / turnover] : []
  })
  return rates.length === 0 ? 0 : Math.round(median(rates) * 100) / 100 + 0 // no -0
}

/** What other tools call the exits of a ledger; every other exit is a signal of the strategy. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(?:stop|signal|time|target|liquidation)$/, '$&'],
  [/^(?:stop_?loss|trailing_stop_loss|stoploss_on_exchange)$/, 'stop'],
  [/^(?:roi|take_profit)$/, 'target'],
  [/^.*$/, 'signal'],
]

function exitReason({ cell, exit_price }: ForeignTrade): string {
  if (Math.abs(parseDecimal(cell('last_stop')) - exit_price) <= exit_price * 1e-9) return 'stop'
  const text = cell('exit_reason').toLowerCase()
  const [pattern, word] = REASONS.find(([each]) => each.test(text))!
  return text.replace(pattern, word)
}

/** The stop of a table of trades is the initial one; what moved since is no stop of a ledger. */
function toFields(trade: ForeignTrade, sized: AccountTrade | undefined): string[] {
  const { cell, side, entry_time, entry_price, exit_time, exit_price } = trade
  const exit =
    exit_time === null ? ['', '', ''] : [spellMoment(exit_time), String(exit_price), exitReason(trade)]
  const leverage = sized === undefined ? cell('leverage') : String(sized.leverage)
  const result = sized === undefined ? cell('account_return') : String(sized.account_return)
  return [
    ...[side, spellMoment(entry_time), String(entry_price), ...exit, leverage, cell('stop')],
    sized !== undefined && exit_time === null ? '' : result,
  ]
}
