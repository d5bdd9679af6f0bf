import { type Bars, barHolding } from '#core/replay/bars.ts'
import type { Side } from '#core/replay/strategy.ts'
import { EXIT_REASONS, type ExitReason } from '#core/replay/trade.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from '../book/cell.ts'
import { got, listed } from '../book/field.ts'
import { LEDGER_COLUMNS, OPTIONAL_COLUMNS } from '../book/read-sources.ts'
import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import type { TableRows } from '../book/table.ts'
import { parseZone, type Zone } from '../book/zone.ts'
import { refuse, UnreadableFile } from '../table/lines.ts'
import { type ForeignTrade, gainOf, realisedReturns, type Size, sizeTrades, totalsOf } from './account.ts'
import { judgeResults, judgeSides } from './evidence.ts'
import { originOf, WHOLE_ROW } from './read-table.ts'
import { type ReadTrades, readTrades, type TradeRecord } from './read-trades.ts'
import { createTally, type Tally } from './repair.ts'
import type { LedgerRules } from './statement.ts'
import { explainDecimal, parseForeignDecimal, toFlag, toOpen, toSide } from './values.ts'

export type ImportedLedger = NonNullable<Awaited<ReturnType<typeof importLedger>>>

/**
 * Reads the trades of a file from elsewhere as rows of a ledger, texts in the order of `LEDGER_COLUMNS` and `OPTIONAL_COLUMNS`. With
 * them come the totals of the account and its daily returns without the value of open trades, null if the file has fractions alone,
 * and the commission that the results show, in basis points of a fill, or null. Null if there is a problem; all are reported.
 */
export async function importLedger(reading: Reading, path: string, rules: LedgerRules) {
  const [tally, report] = [createTally(), reporterOf(reading, path)]
  const read = await readTrades(reading, path, rules, tally)
  if (read === null) return null
  try {
    const known = { ...rules, commission_bps: rules.commission_bps ?? rateOf(read.records) }
    const trades = toTrades(read.records, known, report)
    if (reading.problems.has(path)) return null
    const { sizes, account, commission_bps } = toAccount(trades, read, known, tally)
    if (rules.bars !== null) compareWithBars(trades, rules.bars, rules, report)
    if (reading.problems.has(path)) return null
    const isForced = ({ cell }: ForeignTrade): boolean => /^force_(?:exit|sell)$/.test(cell('exit_reason'))
    tally.count('open_at_end', path, trades.filter(isForced).length)
    const rows = withParts(trades.map((trade, i) => ({ fields: toFields(trade, sizes[i]!), row: trade.row })))
    return { rows, account, commission_bps, ...originOf([read.file], tally, rules) }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    return report(error.message, error.row)
  }
}

/** The commission of a file that has one rate for all fills, in basis points; null for another. */
function rateOf(records: readonly TradeRecord[]): number | null {
  const rates = new Set(records.flatMap(({ cell }) => [cell('fee'), cell('exit_fee')]).filter(Boolean))
  const [rate = Number.NaN] = [...rates].map(text => 1e4 * parseDecimal(text))
  return rates.size === 1 && Number.isFinite(rate) ? rate : null
}

/** Parts of one entry that are equal are numbered. */
function withParts(rows: TableRows): TableRows {
  const copies = Map.groupBy(rows, ({ fields }) => fields.join())
  return rows.map(row => {
    const same = copies.get(row.fields.join())!
    return same.length === 1 ? row : { ...row, fields: row.fields.with(-1, String(same.indexOf(row) + 1)) }
  })
}

function toTrades(records: readonly TradeRecord[], rules: LedgerRules, report: Report): ForeignTrade[] {
  const zone = rules.tz === undefined ? null : parseZone(rules.tz)
  const trades = records.map(record => toTrade(record, zone, rules, report))
  reportCopies(records, report)
  const symbols = [...new Set(trades.map(({ cell }) => cell('symbol')))].filter(symbol => symbol !== '')
  if (!rules.realised && symbols.length > 1)
    report(
      `expected trades of one instrument, got ${listed(symbols)}: export one, or take the account as reported returns with --realised`,
    )
  return trades
}

/** Readers of the cells of a record, which report what is wrong. */
function readersOf({ row, cell }: TradeRecord, zone: Zone | null, report: Report) {
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
  return { amount, price, time, word }
}

function toTrade(record: TradeRecord, zone: Zone | null, rules: LedgerRules, report: Report): ForeignTrade {
  const { row, cell } = record
  const { amount, price, time, word } = readersOf(record, zone, report)
  const isOpen = word('is_open', toOpen, 'true, false, open or closed') ?? cell('exit_time') === ''
  const signed = amount('quantity')
  const isShort = word('is_short', toFlag, 'true or false')
  const said = [word('side', toSide, 'long, short, buy or sell'), isShort === null ? null : sideOf(isShort)]
  const sides = new Set(said.filter(each => each !== null))
  if (signed < 0 || (sides.size === 0 && signed > 0)) sides.add(sideOf(signed < 0))
  const shown = [...sides].join(' and ') || got(cell('side') || cell('quantity'))
  if (sides.size !== 1)
    report(`expected one side, long or short, or the sign of a quantity, got ${shown}`, row)

  const [side = 'long'] = sides
  const quantity = Math.abs(signed)
  const [entry_price, exit_price] = [price('entry_price'), isOpen ? Number.NaN : price('exit_price')]
  const [notional, gross] = [quantity * entry_price, gainOf(side, quantity, entry_price, exit_price)]
  const stated = amount('gross')
  if (Math.abs(stated - gross) > 1e-4 * notional)
    report(`expected a result before costs of ${gross}, which the prices give, got ${stated}`, row)
  // Makers and takers pay other rates; a stated commission takes the place of both.
  const hasRates = rules.commission_bps === null && cell('fees') === ''
  const [rate, exitRate] = [cell('fee'), cell('exit_fee') || cell('fee')].map(parseDecimal)
  return {
    ...{ row, cell, side, quantity, entry_price, exit_price, gross, notional },
    entry_time: time('entry_time'),
    exit_time: isOpen ? null : time('exit_time'),
    turnover: quantity * (entry_price + (exit_price || 0)),
    pnl: isOpen && cell('pnl') === '' ? 0 : amount('pnl'),
    fees: hasRates ? quantity * (rate! * entry_price + exitRate! * exit_price) : amount('fees'),
    funding: amount('funding'),
  }
}

const sideOf = (isShort: boolean): Side => (isShort ? 'short' : 'long')

/** Rows that are equal in all cells are one trade; parts of one entry that are equal have numbers of their own. */
function reportCopies(records: readonly TradeRecord[], report: Report): void {
  for (const [first, ...others] of Map.groupBy(records, ({ cell }) => cell(WHOLE_ROW)).values())
    for (const again of others)
      report(
        `expected each trade once, got row ${first!.row} again: remove one; parts of one entry need a column that numbers them`,
        again.row,
      )
}

/** Prices have more digits than a market where an average was printed; a fill has one of its bar. */
const PRICE_TOLERANCE = 1e-6

function isOfBar(bars: Bars, ms: number, price: number): boolean {
  const [i, room] = [barHolding(bars, ms), price * PRICE_TOLERANCE]
  return price >= bars.l[i]! - room && price <= bars.h[i]! + room
}

/** Refuses trades before the first bar, prices that no bar has, and a zone in which fills miss their bars, if another fits. */
function compareWithBars(trades: readonly ForeignTrade[], bars: Bars, rules: LedgerRules, report: Report) {
  const fills = trades.flatMap(({ row, cell, ...trade }) =>
    (['entry', 'exit'] as const).flatMap(fill => {
      const [ms, price] = [trade[`${fill}_time`] ?? Number.NaN, trade[`${fill}_price`]]
      return barHolding(bars, ms) < 0 ? [] : [{ row, fill, ms, price, text: cell(`${fill}_time`) }]
    }),
  )
  const outside = fills.filter(({ ms, price }) => !isOfBar(bars, ms, price))
  const isEnough = !rules.realised || fills.length >= LEAST_IN_ACCOUNT
  const zones = rules.tz !== undefined && isEnough ? otherZones(fills, bars, rules.tz) : []
  if (zones.length > 0)
    report(
      `expected fills inside their bars in ${rules.tz}, which --tz states, got ${outside.length} of ${fills.length} outside, and inside in ${listed(zones)}: look up the zone in the settings of the tool and correct --tz; if it is ${rules.tz}, correct the bars, or write each time with its offset`,
    )
  if (rules.realised || zones.length > 0) return
  const early = trades.filter(({ entry_time }) => entry_time < bars.t[0]!).length
  if (early > 0)
    report(
      `${early} of ${trades.length} trades are before the first bar, ${spellMoment(bars.t[0]!)}: import older bars, or take the account as reported returns with --realised`,
    )
  for (const { row, fill, ms, price } of outside)
    report(
      `${fill}_price: expected a price of the bar at ${spellMoment(ms)}, got ${price}, which may be the average of several fills (position adjustment): take the account as reported returns with --realised, or correct the bars, the zone or the price`,
      row,
    )
}

/** One fill outside of its bar may be an average, and so may a share of several: bars of another zone have few of them, by chance. */
const LEAST_OUTSIDE = 2
const MOST_LEFT = 0.25
const LEAST_IN_ACCOUNT = 12

/** Fills that are tried in every zone, from all parts of a list. */
const MOST_TRIED = 100

/** Of zones that have one clock the last gives its name. */
const ZONES = [
  ...Intl.supportedValuesOf('timeZone'),
  ...['America/Chicago', 'America/New_York', 'Europe/London', 'Europe/Berlin'],
  ...Array.from({ length: 27 }, (_, i) => `UTC${i < 12 ? '' : '+'}${i - 12}`),
]

/** The zones that have the fewest fills outside of their bars, if the stated one has more by far. */
function otherZones(fills: readonly { text: string; price: number }[], bars: Bars, tz: string): string[] {
  // One price that is wrong may be that of an exit and of an entry.
  const prices = new Map(fills.map(({ text, price }) => [text, price]))
  const tried = [...prices].filter((_, i) => i % Math.ceil(prices.size / MOST_TRIED) === 0)
  const judge = (name: string) => {
    const zone = parseZone(name)
    const times = tried.map(([text]) => parseForeignMoment(text, zone))
    const outside = tried.filter(([, price], i) => !isOfBar(bars, times[i]!, price)).length
    return { name, clock: times.join(), outside }
  }
  const { outside } = judge(tz)
  if (outside < LEAST_OUTSIDE) return []
  const others = [...new Map(ZONES.map(judge).map(each => [each.clock, each])).values()]
  const most = Math.min(MOST_LEFT * outside, ...others.map(each => each.outside))
  return others.filter(each => each.outside <= most).map(({ name }) => name)
}

/** What a ledger has of each trade beside its fills, as texts, and the account of all, if the file has amounts. */
function toAccount(trades: readonly ForeignTrade[], read: ReadTrades, rules: LedgerRules, tally: Tally) {
  const inMoney = trades.some(({ cell, pnl }) => cell('pnl') !== '' && Number.isFinite(pnl))
  for (const trade of trades) {
    const wrong = explainAmounts(trade, inMoney, rules.isUnfunded)
    if (wrong !== null) refuse(wrong, trade.row)
  }
  if (inMoney) return toMoney(trades, read, rules, tally)
  // Of results that are fractions only the sign is known here; a build recomputes them.
  const fractions = trades.map(trade => ({
    ...{ ...trade, quantity: 1, gross: gainOf(trade.side, 1, trade.entry_price, trade.exit_price) },
    pnl: parseForeignDecimal(trade.cell('account_return')),
  }))
  judgeSides(fractions)
  const sizes: Size[] = trades.map(({ cell }) => ({
    ...{ leverage: cell('leverage'), account_return: cell('account_return') },
    ...{ fees: cell('own_fees'), funding: cell('own_funding') },
  }))
  return { sizes, account: null, commission_bps: rules.commission_bps }
}

/** Why the amounts of a trade are none that a ledger can be made of; null if they are. */
function explainAmounts(trade: ForeignTrade, inMoney: boolean, isUnfunded: boolean): string | null {
  const { cell, exit_time, quantity, pnl, fees, funding } = trade
  if (isUnfunded && Math.abs(funding) > 0)
    return `funding: expected none, because --no-funding states that the instrument has none, got ${funding}: leave out --no-funding, and the funding of each trade is read`
  if (cell('pnl') !== '' && cell('account_return') !== '')
    return 'expected results as amounts or as fractions of the account, got both: --ignore one of the columns'
  if (inMoney && !(quantity > 0 && Number.isFinite(pnl)))
    return `expected a quantity above 0 and a result of each trade, got ${got(cell('quantity'))} and ${got(cell('pnl'))}`
  if (inMoney) return null
  if (exit_time !== null && ['leverage', 'stop', 'account_return'].every(role => cell(role) === ''))
    return 'expected a quantity and a result of each trade, or leverage, stop or account_return, got none of them: state their columns with --column'
  if (!Number.isNaN(fees) || !Number.isNaN(funding))
    return 'expected a quantity and a result beside fees and funding in money, got fractions: bring the columns of a ledger of the book alone, or --ignore them'
  return null
}

function toMoney(trades: readonly ForeignTrade[], read: ReadTrades, rules: LedgerRules, tally: Tally) {
  const { capital, file } = read
  if (capital === null)
    refuse('expected the capital at the start, which is not in the file: state it with --capital')
  const judged = judgeResults(trades, rules, file.format?.results === 'after-costs')
  const { commission_bps } = judged
  const sizes = sizeTrades(judged.trades, { ...rules, capital, commission_bps })
  for (const row of judged.roundedRows) tally.drop('rounded', file.path, row)
  const [totals, daily] = [totalsOf(judged.trades, capital), realisedReturns(judged.trades, capital)]
  return { sizes, account: { totals, daily }, commission_bps }
}

/** What other tools call the exits of a ledger; every other exit is a signal of the strategy. */
function exitReason({ cell, exit_price }: ForeignTrade): ExitReason {
  const text = cell('exit_reason').toLowerCase()
  const isAtStop = Math.abs(parseDecimal(cell('last_stop')) - exit_price) <= exit_price * 1e-9
  if (isAtStop || /^(?:stop_?loss|trailing_stop_loss|stoploss_on_exchange)$/.test(text)) return 'stop'
  if (/^(?:roi|take_profit)$/.test(text)) return 'target'
  return EXIT_REASONS.find(reason => reason === text) ?? 'signal'
}

/** The stop of a table of trades is the initial one; what moved since is no stop of a ledger. */
function toFields(trade: ForeignTrade, size: Size): string[] {
  const { cell, side, entry_time, entry_price, exit_time, exit_price } = trade
  const entry = { side, entry_time: spellMoment(entry_time), entry_price: String(entry_price) }
  const exit = exit_time !== null && {
    ...{ exit_time: spellMoment(exit_time), exit_price: String(exit_price) },
    exit_reason: exitReason(trade),
  }
  const fields: Size = { ...entry, ...exit, ...size, stop: cell('stop') }
  return [...LEDGER_COLUMNS, ...OPTIONAL_COLUMNS].map(name => fields[name] ?? '')
}
