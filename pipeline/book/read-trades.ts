import { from, op } from 'arquero'
import { z } from 'zod'
import { UnreadableFile } from '../table/lines.ts'
import { type MappedFile, readMapped } from '../table/mapped.ts'
import { onlyList, type PickRows } from '../table/rows.ts'
import { parseDecimal } from './cell.ts'
import { got, listed } from './field.ts'
import type { FileSpec } from './file-spec.ts'
import type { Reading } from './reading.ts'
import type { Tally } from './repair.ts'
import { isListOfTrades, ROW_TYPE, tradesKind } from './trades-table.ts'

/** A trade as its file has it: texts by role, and its row. What the file lacks is missing or blank. */
export type TradeRecord = { readonly row: number; readonly cells: Readonly<Record<string, string>> }

export type ReadTrades = Pick<MappedFile, 'format' | 'ignored'> & {
  readonly records: readonly TradeRecord[]
  /** What the file says of the whole test; null for what it does not say. */
  readonly stated: {
    readonly capital: number | null
    readonly trades: number | null
    readonly profit: number | null
  }
}

/** Reads the trades of any known file. Null if there is a problem; all are reported. */
export async function readTrades(
  reading: Reading,
  { path: [path = ''], ...spec }: FileSpec,
  tally: Tally,
): Promise<ReadTrades | null> {
  const rows: TradeRecord[] = []
  const whole: { stated: ReadTrades['stated'] } = { stated: { capital: null, trades: null, profit: null } }
  let roles: readonly string[] = []
  const kindOf: Parameters<typeof readMapped>[2] = probe => {
    const kind = tradesKind(probe)
    roles = Object.keys(kind.roles)
    return kind
  }
  const pick: PickRows = document => {
    const result = freqtradeResult(document)
    if (result === null) return onlyList(document)
    whole.stated = {
      capital: result.starting_balance,
      trades: result.total_trades,
      profit: result.profit_total_abs,
    }
    return result.trades
  }
  const file = await readMapped(reading, path, kindOf, { ...spec, pick }, (fields, row) => {
    const texts = fields.map((field, i) => [roles[i]!, field.trim()] as const)
    rows.push({ row, cells: Object.fromEntries(texts) })
  })
  if (file === null) return null
  tally.count('banner', file.bannerRows)
  const { format, ignored, kind } = file
  const report = (row: number, message: string) => reading.problems.add({ file: path, row, message })
  const isList = isListOfTrades(kind)
  const records = isList ? pairUp(rows, report) : rows
  return reading.problems.has(path) ? null : { format, ignored, records, ...whole }
}

const freqtradeSchema = z.object({
  trades: z.array(z.unknown()),
  starting_balance: z.number().nullable().catch(null),
  total_trades: z.number().nullable().catch(null),
  profit_total_abs: z.number().nullable().catch(null),
})

/** The result of the one strategy of a freqtrade backtest; null for another document. */
function freqtradeResult(document: unknown): z.infer<typeof freqtradeSchema> | null {
  const strategies = z.object({ strategy: z.record(z.string(), freqtradeSchema) }).safeParse(document)
    .data?.strategy
  if (strategies === undefined) return null
  const names = Object.keys(strategies)
  if (names.length === 1) return strategies[names[0]!]!
  throw new UnreadableFile(
    `expected the result of one strategy, got ${names.length} (${listed(names)}): export one`,
    null,
  )
}

type Report = (row: number, message: string) => void

/**
 * Joins the two rows of each trade. Trades are numbered from 1 without a gap, both rows of one carry the same profit,
 * and each cumulative profit is the one before and the trade's: so no part of the list is missing.
 */
function pairUp(rows: readonly TradeRecord[], report: Report): TradeRecord[] {
  if (rows.length === 0) return []
  const typed = rows.map(({ row, cells }) => ({
    ...{ ...cells, row, type: cells.type ?? '' },
    kind: ROW_TYPE.exec(cells.type ?? '')?.[1]?.toLowerCase() ?? 'other',
  }))
  for (const { kind, row, type } of typed) {
    if (kind === 'other') report(row, `type: expected Entry or Exit long or short, got ${got(type)}`)
  }
  for (const { trade, kind, count, row } of countRows(typed)) {
    if (count > 1) report(row, `expected one ${kind} of trade ${trade}, got ${count}`)
  }
  const values = Object.keys(typed[0]!).filter(name => name !== 'trade' && name !== 'kind')
  const wide = from(typed).groupby('trade').pivot('kind', values).objects()
  const pairs = z
    .array(pairSchema)
    .parse(wide)
    .sort((a, b) => Number(a.trade) - Number(b.trade))
  pairs.forEach((pair, i) => {
    const problem = explainPair(pair, pairs[i - 1], i + 1)
    if (problem !== null) report(pair.row_entry ?? pair.row_exit ?? 1, problem)
  })
  return pairs.map(toRecord)
}

const text = z.string().default('')
const pairSchema = z.object({
  trade: z.string(),
  ...{ row_entry: z.number().optional(), row_exit: z.number().optional() },
  ...{
    type_entry: text,
    time_entry: text,
    price_entry: text,
    time_exit: text,
    price_exit: text,
    signal_exit: text,
  },
  ...{
    quantity_entry: text,
    pnl_entry: text,
    commission_entry: text,
    cumulative_entry: text,
    cumulative_pct_entry: text,
  },
  ...{ pnl_exit: z.string().optional(), cumulative_exit: z.string().optional() },
})

type Pair = z.infer<typeof pairSchema>

const countRows = (rows: readonly object[]) =>
  z.array(z.object({ trade: z.string(), kind: z.string(), count: z.number(), row: z.number() })).parse(
    from(rows as object[])
      .groupby('trade', 'kind')
      .rollup({ count: op.count(), row: op.max('row') })
      .objects(),
  )

/** Amounts have two decimals, so that a sum of two is off by at most this. */
const CENTS = 0.021

function explainPair(pair: Pair, before: Pair | undefined, number: number): string | null {
  const { trade, row_entry, pnl_entry, pnl_exit, cumulative_entry, cumulative_exit } = pair
  if (row_entry === undefined)
    return `expected an entry of trade ${trade}, got its exit alone: export the whole list`
  if (Number(trade) !== number)
    return `expected trade ${number}, got trade ${got(trade)}: export the whole list`
  const isSame =
    (pnl_exit ?? pnl_entry) === pnl_entry && (cumulative_exit ?? cumulative_entry) === cumulative_entry
  if (!isSame)
    return `expected the same profit on both rows of trade ${trade}, got two: the file may be cut off`
  const sum = parseDecimal(before?.cumulative_entry ?? '0') + parseDecimal(pnl_entry)
  if (Math.abs(parseDecimal(cumulative_entry) - sum) > CENTS)
    return `expected a cumulative profit of ${sum.toFixed(2)} after trade ${trade}, got ${got(cumulative_entry)}: rows are missing or changed`
  return null
}

/** An exit with the signal Open is the value of a position that is still open. */
function toRecord(pair: Pair): TradeRecord {
  const isOpen = pair.signal_exit.toLowerCase() === 'open' || pair.row_exit === undefined
  const cells = {
    side: /long/i.test(pair.type_entry) ? 'long' : 'short',
    ...{ entry_time: pair.time_entry, entry_price: pair.price_entry },
    ...{ exit_time: isOpen ? '' : pair.time_exit, exit_price: isOpen ? '' : pair.price_exit },
    ...{ quantity: pair.quantity_entry, pnl: pair.pnl_entry, commission: pair.commission_entry },
    cumulative_pct: pair.cumulative_pct_entry,
  }
  return { row: pair.row_entry ?? 0, cells }
}
