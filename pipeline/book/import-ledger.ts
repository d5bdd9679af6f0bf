import { median } from 'simple-statistics'
import type { Bars } from '#core/replay/bars.ts'
import type { Side } from '#core/replay/strategy.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from './cell.ts'
import { got } from './field.ts'
import type { LedgerSpec } from './file-spec.ts'
import { fitZone } from './fit-zone.ts'
import type { LedgerRow } from './read-ledger.ts'
import { type ReadTrades, readTrades, type TradeRecord } from './read-trades.ts'
import type { Reading } from './reading.ts'
import { createTally, type Repair } from './repair.ts'
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
export type ImportedLedger = {
  readonly rows: readonly LedgerRow[]
  readonly format: string
  readonly ignored: readonly string[]
  readonly findings: readonly Repair[]
  /** Null if the file has no amounts: then the results are its own fractions. */
  readonly account: {
    readonly trades: readonly AccountTrade[]
    readonly totals: Totals
    readonly capital: number
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
  const tally = createTally()
  const path = rules.path[0] ?? ''
  const report = (message: string, row?: number): null => {
    reading.problems.add({ file: path, message, ...(row === undefined ? {} : { row }) })
    return null
  }
  const read = await readTrades(reading, rules, tally)
  if (read === null) return null
  const zone = rules.tz === undefined ? null : parseZone(rules.tz)
  const misfit = explainZone(read.records, zone, rules)
  if (misfit !== null)
    return report(misfit, read.records.find(record => isLocal(record.cells.entry_time ?? ''))?.row)
  const trades = read.records.map(record => toTrade(record, zone, message => report(message, record.row)))
  if (reading.problems.has(path)) return null
  tally.count(
    'open_at_end',
    read.records.filter(({ cells }) => /^force_(?:exit|sell)$/.test(cells.exit_reason ?? '')).length,
  )

  const sized = toAccount(trades, read, rules, report)
  if (sized === null) return null
  const { account, commission_bps } = sized
  const rows = trades.map((trade, i) => ({ fields: toFields(trade, account?.trades[i]), row: trade.row }))
  const symbols = [
    ...new Set(read.records.flatMap(({ cells: { symbol = '' } }) => (symbol === '' ? [] : [symbol]))),
  ]
  const { format, ignored } = read
  const deviation_bps = deviationOf(trades, commission_bps ?? 0)
  return {
    rows,
    format,
    ignored,
    findings: tally.findings(path),
    account,
    commission_bps,
    deviation_bps,
    symbols,
  }
}

function toTrade(record: TradeRecord, zone: Zone | null, report: (message: string) => void): ForeignTrade {
  const amount = (role: string): number => parseDecimal(record.cells[role] ?? '')
  const time = (role: string): number => {
    const text = record.cells[role] ?? ''
    const ms = parseForeignMoment(text, zone)
    if (Number.isNaN(ms)) report(`${role}: ${explainForeignMoment(text, zone)}`)
    return ms
  }
  const isOpen = (record.cells.exit_time ?? '') === '' || record.cells.is_open === 'true'
  const side = sideOf(record)
  if (side === null)
    report(
      `side: expected long or short, or the sign of a quantity, got ${got(record.cells.side ?? record.cells.quantity)}`,
    )
  if (!(amount('entry_price') > 0))
    report(`entry_price: expected a price above 0, got ${got(record.cells.entry_price)}`)
  if (!isOpen && !(amount('exit_price') > 0))
    report(`exit_price: expected a price above 0, got ${got(record.cells.exit_price)}`)
  return {
    ...{ row: record.row, side: side ?? 'long', record },
    ...{ entry_time: time('entry_time'), entry_price: amount('entry_price') },
    exit_time: isOpen ? Number.NaN : time('exit_time'),
    exit_price: isOpen ? Number.NaN : amount('exit_price'),
    ...{ quantity: Math.abs(amount('quantity')), commission: amount('commission') },
    pnl: isOpen && (record.cells.pnl ?? '') === '' ? 0 : amount('pnl'),
    cumulative_pct: amount('cumulative_pct'),
  }
}

const SIDES: Readonly<Record<string, Side>> = { long: 'long', buy: 'long', short: 'short', sell: 'short' }

function sideOf({ cells: { side = '', is_short = '', quantity = '' } }: TradeRecord): Side | null {
  if (side !== '') return SIDES[side.toLowerCase()] ?? null
  if (is_short !== '') return is_short === 'true' ? 'short' : 'long'
  const signed = parseDecimal(quantity)
  return signed > 0 ? 'long' : signed < 0 ? 'short' : null
}

const isLocal = (text: string): boolean =>
  Number.isNaN(parseForeignMoment(text, null)) && !Number.isNaN(parseForeignMoment(text, UTC))

/** Why the zone cannot be what is stated, or what to state: a zone is never guessed. Null if it is beyond doubt. */
function explainZone(records: readonly TradeRecord[], zone: Zone | null, { bars }: Rules): string | null {
  const local = records.filter(record => isLocal(record.cells.entry_time ?? ''))
  if (local.length === 0 || (zone !== null && bars === null)) return null
  const entries = local.map(({ cells: { entry_time = '', entry_price = '' } }) => ({
    localMs: parseForeignMoment(entry_time, UTC),
    price: parseDecimal(entry_price),
  }))
  const fit = bars === null ? null : fitZone(entries, bars, zone)
  const best = fit?.best == null ? 'state the zone of the chart' : `the bars fit ${fit.best}`
  if (zone === null)
    return `entry_time: expected a zone for ${got(local[0]!.cells.entry_time)}, which has none: ${best}; confirm it with --tz (tz: in the catalogue)`
  return fit === null || fit.isPlausible
    ? null
    : `entry_time: expected entries that fit the bars in ${zone.name}, got ${fit.share} that do, and ${best}: correct --tz (tz:)`
}

type Report = (message: string, row?: number) => null

/** The account of the trades, if the file has amounts. */
function toAccount(trades: readonly ForeignTrade[], { stated }: ReadTrades, rules: Rules, report: Report) {
  const hasAmounts =
    trades.length > 0 && trades.every(({ quantity, pnl }) => quantity > 0 && Number.isFinite(pnl))
  const own = rules.commission_bps
  if (!hasAmounts) {
    const lacking = trades.find(({ record }) => OWN.every(role => (record.cells[role] ?? '') === ''))
    return lacking === undefined
      ? { account: null, commission_bps: own }
      : report(EXPECTED_AMOUNTS, lacking.row)
  }
  const capital = rules.capital ?? stated.capital
  if (capital === null) return report(EXPECTED_CAPITAL)
  const commission_bps = own ?? commissionOf(trades)
  if (!(commission_bps >= 0))
    return report(
      `expected results net of a commission, got ones above what the prices give: state --commission-bps`,
    )
  const sized = sizeTrades(trades, { capital, feeRate: commission_bps / 10_000, realised: rules.realised })
  const ruined = sized.findIndex(({ base }) => !(base > 0))
  if (ruined >= 0)
    return report(
      `expected an account above 0 at the entry, got ${sized[ruined]!.base}: correct the capital`,
      trades[ruined]!.row,
    )
  const totals = totalsOf(trades, capital)
  const fault = explainTotals(trades, totals, stated, capital)
  return fault === null
    ? { account: { trades: sized, totals, capital, daily: realisedReturns(trades, capital) }, commission_bps }
    : report(fault)
}

const OWN = ['leverage', 'stop', 'account_return'] as const

const EXPECTED_AMOUNTS =
  'expected a quantity and a profit of each trade, or leverage, stop or account_return, got none of them: state their columns with --column (columns:)'

const EXPECTED_CAPITAL =
  'expected the capital at the start, which is not in the file: state it with --capital (capital: in the catalogue)'

/** The commission of a fill in basis points that the file states, or that most of its results show. */
function commissionOf(trades: readonly ForeignTrade[]): number {
  const fee = parseDecimal(trades[0]?.record.cells.fee ?? '')
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

function exitReason({ record, exit_price }: ForeignTrade): string {
  const stop = parseDecimal(record.cells.last_stop ?? '')
  if (Math.abs(stop - exit_price) <= exit_price * 1e-9) return 'stop'
  const text = (record.cells.exit_reason ?? '').toLowerCase()
  const [pattern, word] = REASONS.find(([each]) => each.test(text))!
  return text.replace(pattern, word)
}

/** The stop of a table of trades is the initial one; what moved since is no stop of a ledger. */
function toFields(trade: ForeignTrade, sized: AccountTrade | undefined): string[] {
  const { record, side, entry_time, entry_price, exit_time, exit_price } = trade
  const isOpen = Number.isNaN(exit_time)
  const [leverage, accountReturn] =
    sized === undefined
      ? [record.cells.leverage ?? '', record.cells.account_return ?? '']
      : [String(sized.leverage), isOpen ? '' : String(sized.account_return)]
  const exit = isOpen ? ['', '', ''] : [spellMoment(exit_time), String(exit_price), exitReason(trade)]
  return [
    side,
    spellMoment(entry_time),
    String(entry_price),
    ...exit,
    leverage,
    record.cells.stop ?? '',
    accountReturn,
  ]
}
