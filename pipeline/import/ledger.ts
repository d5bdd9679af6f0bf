import { type Bars, barHolding } from '#core/replay/bars.ts'
import type { Side } from '#core/replay/strategy.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from '../book/cell.ts'
import { got, listed } from '../book/field.ts'
import { fitOpens } from '../book/fit-opens.ts'
import { LEDGER_COLUMNS, type LedgerRow, OPTIONAL_COLUMNS } from '../book/read-ledger.ts'
import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { parseZone, UTC, type Zone } from '../book/zone.ts'
import {
  type AccountTrade,
  explainTotals,
  type ForeignTrade,
  grossOf,
  realisedReturns,
  sizeTrades,
  type Totals,
  totalsOf,
} from './account.ts'
import { judgeResults, judgeSides } from './evidence.ts'
import { explainDecimal, parseForeignDecimal } from './number.ts'
import { type Origin, originOf, WHOLE_ROW } from './read-table.ts'
import { type ReadTrades, readTrades, type TradeRecord } from './read-trades.ts'
import { createTally, type Tally } from './repair.ts'
import type { LedgerSpec } from './statement.ts'
import { toFlag, toOpen, toSide } from './word.ts'

/** Trades of a file from elsewhere as rows of a ledger, texts in the order of `LEDGER_COLUMNS` and `OPTIONAL_COLUMNS`. */
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
}

type Rules = LedgerSpec & {
  /** Where they are known, times without a zone and prices are checked against them. */
  readonly bars: Bars | null
  /** The commission of a fill in basis points, null if the file has to show it. */
  readonly commission_bps: number | null
  /** Whether the trades are of several instruments, and open ones are not valued. */
  readonly realised: boolean
  /** Whether it is stated that the instrument has no funding. */
  readonly isUnfunded: boolean
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
  const symbols = [...new Set(trades.map(({ cell }) => cell('symbol')))].filter(symbol => symbol !== '')
  refuseCopies(read.records, report)
  if (!rules.realised && symbols.length > 1)
    report(
      `expected trades of one instrument, got ${listed(symbols)}: export one, or take the account as reported returns with --realised`,
    )
  if (rules.isUnfunded) refuseFunding(trades, report)
  if (reading.problems.has(path)) return null
  const closedByTool = read.records.filter(({ cell }) => /^force_(?:exit|sell)$/.test(cell('exit_reason')))
  tally.count('open_at_end', path, closedByTool.length)

  const sized = toAccount(trades, read, rules, tally, report)
  if (sized === null) return null
  if (!rules.realised && rules.bars !== null) refuseAverages(trades, rules.bars, report)
  if (reading.problems.has(path)) return null
  const { account, commission_bps, own } = sized
  return {
    ...{ account, commission_bps },
    ...originOf(reading, [read.file], tally, rules),
    rows: withParts(
      own.map((trade, i) => ({
        fields: toFields(trade, account?.trades[i], sized.feesVary),
        row: trade.row,
      })),
    ),
  }
}

/** Parts of one entry that are equal are numbered. */
function withParts(rows: readonly LedgerRow[]): LedgerRow[] {
  const copies = Map.groupBy(rows, ({ fields }) => fields.join())
  return rows.map(row => {
    const same = copies.get(row.fields.join())!
    return same.length === 1 ? row : { ...row, fields: row.fields.with(-1, String(same.indexOf(row) + 1)) }
  })
}

function toTrade({ row, cell }: TradeRecord, zone: Zone | null, report: Report): ForeignTrade {
  /** The sum of the columns of a role; NaN if all are blank. */
  const amount = (role: string): number => {
    const values = cell(role).split(' ').filter(Boolean).map(parseForeignDecimal)
    if (values.some(Number.isNaN)) report(`${role}: ${explainDecimal(cell(role), 'a number')}`, row)
    return values.length === 0 ? Number.NaN : values.reduce((sum, each) => sum + each)
  }
  const price = (role: string): number => {
    const value = amount(role)
    if (cell(role) === '' || value <= 0)
      report(`${role}: expected a price above 0, got ${got(cell(role))}`, row)
    return value
  }
  const time = (role: string): number => {
    const ms = parseForeignMoment(cell(role), zone)
    if (Number.isNaN(ms)) report(`${role}: ${explainForeignMoment(cell(role), zone)}`, row)
    return ms
  }
  const word = <Value>(role: string, read: (text: string) => Value | null | undefined, expected: string) => {
    const value = read(cell(role))
    if (value === undefined) report(`${role}: expected ${expected}, got ${got(cell(role))}`, row)
    return value ?? null
  }
  const isOpen = word('is_open', toOpen, 'true, false, open or closed') ?? cell('exit_time') === ''
  const signed = amount('quantity')
  const side = word('side', toSide, 'long, short, buy or sell')
  const isShort = word('is_short', toFlag, 'true or false')
  const sides = new Set<Side>([side, isShort === null ? null : sideOf(isShort)].filter(each => each !== null))
  if (signed < 0 || (sides.size === 0 && signed > 0)) sides.add(sideOf(signed < 0))
  const said = [...sides].join(' and ') || got(cell('side') || cell('quantity'))
  if (sides.size !== 1)
    report(`expected one side, long or short, or the sign of a quantity, got ${said}`, row)
  const trade = {
    ...{ row, cell, side: [...sides][0] ?? 'long' },
    ...{ entry_time: time('entry_time'), entry_price: price('entry_price') },
    exit_time: isOpen ? null : time('exit_time'),
    exit_price: isOpen ? Number.NaN : price('exit_price'),
    ...{ quantity: Math.abs(signed), fees: amount('fees'), funding: amount('funding') },
    ...{ gross: amount('gross'), pnl: isOpen && cell('pnl') === '' ? 0 : amount('pnl') },
    cumulative_pct: amount('cumulative_pct'),
  }
  const gross = grossOf(trade)
  // Makers and takers pay other rates.
  const [fee, exitFee] = [parseDecimal(cell('fee')), parseDecimal(cell('exit_fee'))]
  if (Number.isNaN(trade.fees) && Math.abs(fee - exitFee) > 0 && !isOpen)
    trade.fees = trade.quantity * (fee * trade.entry_price + exitFee * trade.exit_price)
  if (Math.abs(trade.gross - gross) > 1e-4 * trade.quantity * trade.entry_price)
    report(`expected a result before costs of ${gross}, which the prices give, got ${trade.gross}`, row)
  return trade
}

const sideOf = (isShort: boolean): Side => (isShort ? 'short' : 'long')

const isLocal = (text: string): boolean =>
  Number.isNaN(parseForeignMoment(text, null)) && !Number.isNaN(parseForeignMoment(text, UTC))

/** Rows that are equal in all cells are one trade; parts of one entry that are equal have numbers of their own. */
function refuseCopies(records: readonly TradeRecord[], report: Report): void {
  const first = new Map<string, number>()
  for (const { row, cell } of records) {
    const whole = cell(WHOLE_ROW)
    const why = 'remove one; parts of one entry need a column that numbers them'
    if (first.has(whole)) report(`expected each trade once, got row ${first.get(whole)} again: ${why}`, row)
    else first.set(whole, row)
  }
}

function refuseFunding(trades: readonly ForeignTrade[], report: Report): void {
  const paid = trades.find(({ funding }) => Math.abs(funding) > 0)
  if (paid === undefined) return
  report(
    `funding: expected none, because --no-funding states that the instrument has none, got ${paid.funding}: leave out --no-funding, and the funding of each trade is read`,
    paid.row,
  )
}

/** Prices have more digits than a market where an average was printed; a fill has one of its bar. */
const PRICE_TOLERANCE = 1e-6

/** A price that no bar has at its time is that of no fill. */
function refuseAverages(trades: readonly ForeignTrade[], bars: Bars, report: Report): void {
  const fills = trades.flatMap(({ row, entry_time, entry_price, exit_time, exit_price }) => [
    { row, role: 'entry_price', ms: entry_time, price: entry_price },
    ...(exit_time === null ? [] : [{ row, role: 'exit_price', ms: exit_time, price: exit_price }]),
  ])
  for (const { row, role, ms, price } of fills) {
    const i = barHolding(bars, ms)
    const room = price * PRICE_TOLERANCE
    if (i < 0 || (price >= bars.l[i]! - room && price <= bars.h[i]! + room)) continue
    report(
      `${role}: expected a price of the bar at ${spellMoment(ms)}, got ${price}, which may be the average of several fills (position adjustment): take the account as reported returns with --realised, or correct the bars, the zone or the price`,
      row,
    )
  }
}

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

/** The account of the trades, if the file has amounts; `own` are the trades with the results that the account had. */
function toAccount(
  trades: readonly ForeignTrade[],
  { stated, file }: ReadTrades,
  rules: Rules,
  tally: Tally,
  report: Report,
) {
  const double = trades.find(({ cell }) => cell('pnl') !== '' && cell('account_return') !== '')
  if (double !== undefined)
    return report(
      'expected results as amounts or as fractions of the account, got both: --ignore one of the columns',
      double.row,
    )
  const lacks = ({ quantity, pnl }: ForeignTrade): boolean => !(quantity > 0 && Number.isFinite(pnl))
  const hasAmounts = trades.some(({ cell, pnl }) => cell('pnl') !== '' && Number.isFinite(pnl))
  const lacking = hasAmounts ? trades.find(lacks) : undefined
  if (lacking !== undefined)
    return report(
      `expected a quantity above 0 and a result of each trade, got ${got(lacking.cell('quantity'))} and ${got(lacking.cell('pnl'))}`,
      lacking.row,
    )
  if (!hasAmounts) {
    const bare = trades.find(
      ({ exit_time, cell }) => exit_time !== null && OWN.every(role => cell(role) === ''),
    )
    if (bare !== undefined) return report(EXPECTED_AMOUNTS, bare.row)
    const paid = trades.find(({ fees, funding }) => !Number.isNaN(fees) || !Number.isNaN(funding))
    if (paid !== undefined)
      return report(
        'expected a quantity and a result beside fees and funding in money, got fractions: bring the columns of a ledger of the book alone, or --ignore them',
        paid.row,
      )
    // Of results that are fractions only the sign is known here; a build recomputes them.
    const fractions = trades.map(trade => ({
      ...trade,
      quantity: 1,
      pnl: parseForeignDecimal(trade.cell('account_return')),
    }))
    const judged = judgeSides(fractions)
    if (judged !== null) return report(judged.fault, judged.row)
    return { account: null, commission_bps: rules.commission_bps, own: trades, feesVary: false }
  }
  const capital = rules.capital ?? stated.starting_balance
  if (capital === null) return report(EXPECTED_CAPITAL)
  const fee = parseDecimal(trades[0]!.cell('fee'))
  const judged = judgeResults(trades, {
    results: rules.results,
    commission_bps: rules.commission_bps ?? (Number.isFinite(fee) ? fee * 10_000 : null),
    isNet: file.format?.results === 'after-costs',
    realised: rules.realised,
  })
  if ('fault' in judged) return report(judged.fault, judged.row)
  const { commission_bps, feesVary, isSized } = judged
  const sized = sizeTrades(judged.trades, {
    capital,
    feeRate: commission_bps / 10_000,
    realised: rules.realised,
  })
  const parts = isSized ? sized : sized.map(each => ({ ...each, leverage: Number.NaN }))
  const ruined = sized.findIndex(({ base }) => !(base > 0))
  if (ruined >= 0)
    return report(
      `expected an account above 0 at the entry, got ${sized[ruined]!.base}: correct the capital`,
      trades[ruined]!.row,
    )
  const fault = explainTotals(trades, stated, capital)
  if (fault !== null) return report(fault)
  for (const row of judged.roundedRows) tally.drop('rounded', file.path, row)
  const [totals, daily] = [totalsOf(judged.trades, capital), realisedReturns(judged.trades, capital)]
  return { account: { trades: parts, totals, daily }, commission_bps, own: judged.trades, feesVary }
}

const OWN = ['leverage', 'stop', 'account_return'] as const

const EXPECTED_AMOUNTS =
  'expected a quantity and a result of each trade, or leverage, stop or account_return, got none of them: state their columns with --column (columns:)'

const EXPECTED_CAPITAL =
  'expected the capital at the start, which is not in the file: state it with --capital (capital: in the catalogue)'

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
function toFields(trade: ForeignTrade, sized: AccountTrade | undefined, feesVary: boolean): string[] {
  const { cell, side, entry_time, entry_price, exit_time, exit_price, fees, funding } = trade
  const isOpen = exit_time === null
  const exit = isOpen
    ? {}
    : { exit_time: spellMoment(exit_time), exit_price: String(exit_price), exit_reason: exitReason(trade) }
  const spelled = (value: number): string => (Number.isFinite(value) ? String(value) : '')
  const leverage = sized?.leverage ?? Number.NaN
  const part = (money: number): string =>
    isOpen || Number.isNaN(leverage) ? '' : spelled(money / (trade.quantity * entry_price))
  const costs =
    sized === undefined
      ? { fees: cell('own_fees'), funding: cell('own_funding') }
      : { fees: feesVary ? part(fees) : '', funding: Number.isNaN(funding) ? '' : part(funding) }
  const fields: Readonly<Record<string, string>> = {
    ...{ side, entry_time: spellMoment(entry_time), entry_price: String(entry_price), ...exit, ...costs },
    ...{ leverage: sized === undefined ? cell('leverage') : spelled(leverage), stop: cell('stop') },
    account_return: sized === undefined ? cell('account_return') : isOpen ? '' : String(sized.account_return),
  }
  return [...LEDGER_COLUMNS, ...OPTIONAL_COLUMNS].map(name => fields[name] ?? '')
}
