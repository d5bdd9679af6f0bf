import { z } from 'zod'
import { type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import { toShared } from '#core/replay/bars.ts'
import { byEntry, endOf, findOverlaps } from '#core/replay/ledger.ts'
import { EXIT_REASONS, isPossibleFee, type Trade } from '#core/replay/trade.ts'
import type { Ledger, LedgerTrade, Source } from './book.ts'
import { explainMoment, parseDecimal, parseMoment, spellMoment } from './cell.ts'
import { got, problemsOf } from './field.ts'
import { explainMissing, type Folder, tableAt } from './folder.ts'
import type { Claim } from './read-catalogue.ts'
import { placeOf, type Reading, readWhole } from './reading.ts'
import { type Columns, readTable, type TableRows } from './table.ts'

/** Reads the source of every strategy; a missing one, or a second one, is a problem. Returns the sound ones by id. */
export async function readSources(reading: Reading, folder: Folder, claims: readonly Claim[]) {
  const sources = new Map<string, Source>()
  for (const claim of claims) {
    const found = tablesOf(reading, folder, claim.id)
    reportStrangers(claim, found)
    const path = found[claim.source]
    const source =
      path === null ? reportMissing(claim, folder) : await readSource(reading, claim, path, found)
    const isSound = Object.values(found).every(each => each === null || !reading.problems.has(each))
    if (source !== null && isSound) sources.set(claim.id, source)
  }
  return sources
}

type Tables = Readonly<Record<Claim['source'], string | null>>

/** The files of the book that a strategy of this id could be made of. */
function tablesOf(reading: Reading, folder: Folder, id: string): Tables {
  const module = `strategies/${id}.ts`
  return {
    module: folder.has(module) ? module : null,
    ledger: tableAt(reading, folder, `ledgers/${id}`),
    returns: tableAt(reading, folder, `returns/${id}`),
  }
}

async function readSource(reading: Reading, claim: Claim, path: string, all: Tables): Promise<Source | null> {
  const allowOverlap = claim.allow_overlap ?? false
  switch (claim.source) {
    case 'module':
      return (await readWhole(reading, path)) && { kind: 'module', path: placeOf(reading, path) }
    case 'ledger':
      return { kind: 'ledger', ...(await readLedger(reading, path, { allowOverlap, besideReturns: false })) }
    case 'returns': {
      const daily = await readReturns(reading, path)
      const rules = { allowOverlap, besideReturns: true }
      const ledger = all.ledger === null ? null : await readLedger(reading, all.ledger, rules)
      return { kind: 'returns', path, daily, ledger }
    }
  }
}

/** Two sources of one strategy are ambiguous. */
function reportStrangers({ source, id, report }: Claim, tables: Tables): void {
  const allowed = [tables[source], source === 'returns' ? tables.ledger : null]
  const others = Object.values(tables).filter(path => path !== null && !allowed.includes(path))
  if (others.length === 0) return
  const got = `${others.join(' and ')} too: remove one`
  report('source', `expected ${id} to have no other source than its ${source}, got ${got}`)
}

function reportMissing({ source, id, report }: Claim, folder: Folder): null {
  const parent = { module: 'strategies', ledger: 'ledgers', returns: 'returns' }[source]
  const ending = source === 'module' ? '.ts' : '.csv or .csv.gz'
  report('source', explainMissing(folder, `${parent}/${id}${ending}`, parent))
  return null
}

/** A day that loses everything: legal, and the last day on which the account can move. */
const RUIN = -1

/**
 * Reads daily returns as reported: `t` a UTC date, every day of the calendar from the first to the last;
 * `ret` the simple fractional return of that day, at least -1. After a day of -1 the account is dead and
 * every return is 0, as the engine has it after a liquidation. Rows that come from elsewhere obey the same rules.
 */
export async function readReturns(reading: Reading, path: string, imported?: TableRows) {
  const values: number[] = []
  let first: EpochDay | null = null
  let before: EpochDay | null = null
  let isRuined = false
  const onRow = ([t = '', ret = '']: readonly string[], row: number): void => {
    const report = (message: string) => reading.problems.add({ file: path, row, message })
    const day = parseIsoDate(t)
    const value = parseDecimal(ret)
    if (day === null) report(`t: expected a date as YYYY-MM-DD, got ${got(t)}`)
    else if (before !== null && day !== before + 1) report(`t: ${explainDay(day, before)}`)
    if (!(value >= RUIN)) report(`ret: expected a fraction of at least -1 (0.01 = +1 %), got ${got(ret)}`)
    else if (isRuined && value !== 0)
      report(`ret: expected 0 after the day of -1 that ended the account, got ${got(ret)}`)
    first ??= day
    before = day ?? (before === null ? null : before + 1)
    isRuined ||= value === RUIN
    values.push(value)
  }
  await readTable(reading, path, { required: ['t', 'ret'] }, onRow, imported)
  return { period: 'daily', first: first ?? 0, values: toShared(values) } satisfies Series
}

function explainDay(day: EpochDay, before: EpochDay): string {
  const expected = `expected ${toIsoDate(before + 1)}, the day after the row before, got ${toIsoDate(day)}`
  const missing = day - before - 1
  return missing > 0 ? `${expected}: ${missing} day${missing === 1 ? ' is' : 's are'} missing` : expected
}

/** What every ledger has: the side and both fills. */
export const FILLS = ['side', 'entry_time', 'entry_price', 'exit_time', 'exit_price', 'exit_reason'] as const

/** One of them gives each trade's weight in the account. */
const WEIGHTS = ['leverage', 'stop', 'account_return']

export const LEDGER_COLUMNS = [...FILLS, ...WEIGHTS]

/** What was paid, in the place of the declared costs; and the number of a part of an entry, where parts are equal. */
export const OPTIONAL_COLUMNS = ['fees', 'funding', 'part']

const COLUMNS = { names: [...LEDGER_COLUMNS, ...OPTIONAL_COLUMNS], mayBeEmpty: true }

const MARKED: Columns = { ...COLUMNS, required: FILLS, oneOf: WEIGHTS }

/** A ledger beside reported returns: it serves the trade statistics, and nothing is marked. */
const REPORTED: Columns = { ...COLUMNS, required: [...FILLS, 'account_return'] }

type LedgerRules = { readonly allowOverlap: boolean; readonly besideReturns: boolean }

/**
 * Reads a ledger: a trade a row, the rows in any order; the trades come by entry, then exit time. A header
 * without rows is a strategy that has not traded yet. Rows that come from elsewhere obey the same rules.
 */
export async function readLedger(reading: Reading, path: string, rules: LedgerRules, imported?: TableRows) {
  const [trades, rows]: [LedgerTrade[], number[]] = [[], []]
  const onRow = (fields: readonly string[], row: number): void => {
    const record = Object.fromEntries(COLUMNS.names.map((name, i) => [name, fields[i] ?? '']))
    const trade = tradeSchema.safeParse(record).data
    const messages =
      trade === undefined
        ? problemsOf(tradeSchema, record).map(({ path: [name], message }) => `${name}: ${message}`)
        : explainTrade(trade, rules.besideReturns)
    for (const message of messages) reading.problems.add({ file: path, row, message })
    if (trade === undefined) return
    const { part, ...own } = trade
    trades.push(part === null ? own : { ...own, part })
    rows.push(row)
  }
  await readTable(reading, path, rules.besideReturns ? REPORTED : MARKED, onRow, imported)
  if (!rules.allowOverlap) reportOverlaps(reading, { path, trades, rows })
  const order = byEntry(trades)
  return { path, trades: order.map(i => trades[i]!), rows: order.map(i => rows[i]!) }
}

/** The rule of the marking, reported by the rows of the file. */
function reportOverlaps(reading: Reading, { path: file, trades, rows }: Ledger): void {
  for (const { index, other } of findOverlaps(trades)) {
    const end = endOf(trades[other]!)
    const until = end === Number.POSITIVE_INFINITY ? 'still open' : `open until ${spellMoment(end)}`
    const message =
      `entry_time: expected one position at a time, got an entry at ${spellMoment(trades[index]!.entry_time)} while ` +
      `the trade of row ${rows[other]} is ${until}; if that is intended, give the strategy allow_overlap: true`
    reading.problems.add({ file, row: rows[index]!, message })
  }
}

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

const decimalOrBlank = (expected: string, isSound: (value: number) => boolean) =>
  blankOr(decimal('', isSound), `${expected}, or a blank`)

const PRICE = 'a price above 0'
const price = decimal(PRICE, value => value > 0)

/** Every column of a ledger as text, and what it becomes. */
const tradeSchema = z.object({
  side: z.enum(['long', 'short']).meta({ expected: 'long or short' }),
  entry_time: moment,
  entry_price: price,
  exit_time: blankOr(moment, 'a time, or a blank for an open trade'),
  exit_price: blankOr(price, `${PRICE}, or a blank for an open trade`),
  exit_reason: blankOr(
    z.enum(EXIT_REASONS),
    `one of ${EXIT_REASONS.join(', ')}, or a blank for an open trade`,
  ),
  leverage: decimalOrBlank('a number above 0 (notional / account equity at entry)', value => value > 0),
  stop: decimalOrBlank(PRICE, value => value > 0),
  account_return: decimalOrBlank(
    'a fraction of at least -1 (0.01 = +1 % of account equity)',
    value => value >= -1,
  ),
  fees: decimalOrBlank(
    'a fraction of the notional at entry from -0.001 to 0.02 (0.0007 = 7 basis points for both fills)',
    isPossibleFee,
  ),
  funding: decimalOrBlank(
    'a fraction of the notional at entry (0.0003 = 3 basis points received, -0.0003 = paid)',
    value => Math.abs(value) < 1,
  ),
  part: blankOr(z.string().regex(/^\d+$/), 'a number that tells equal parts of one entry apart, or a blank'),
})

/** What is wrong between the fields of a trade, each of them sound by itself. */
function explainTrade(trade: Trade, needsAccountReturn: boolean): string[] {
  const { entry_time, exit_time, exit_price, exit_reason } = trade
  if (exit_time === null && exit_price === null && exit_reason === null)
    return (['account_return', 'fees', 'funding'] as const)
      .filter(name => trade[name] !== null)
      .map(name => `${name}: expected a blank, because the trade is still open, got ${got(trade[name])}`)
  if (exit_time === null || exit_price === null || exit_reason === null)
    return [
      'expected exit_time, exit_price and exit_reason together, or all three blank for an open trade, got some of them',
    ]
  const size = explainSize(trade, needsAccountReturn)
  if (exit_time >= entry_time) return size
  const [entry, exit] = [spellMoment(entry_time), spellMoment(exit_time)]
  return [`exit_time: expected a time not before entry_time ${entry}, got ${exit}`, ...size]
}

/** A trade can be marked when its leverage, or else its result, is known; see the marking of ledgers. */
function explainSize(trade: Trade, needsAccountReturn: boolean): string[] {
  const { leverage, stop, account_return, entry_price } = trade
  if (account_return !== null) return []
  if (needsAccountReturn) return ['account_return: expected the net return of the closed trade, got nothing']
  if (leverage !== null) return []
  if (stop === null) return ['expected at least one of leverage, stop and account_return, got none of them']
  const expected = 'expected a price away from entry_price, because their distance gives the leverage'
  return stop === entry_price ? [`stop: ${expected}, got ${stop}`] : []
}
