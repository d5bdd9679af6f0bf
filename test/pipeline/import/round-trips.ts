// Known bars, trades and returns, written as a file and imported: what came back.

import { createReading } from '#pipeline/book/reading.ts'
import { TIMEFRAME_MS, TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { BARS } from '#pipeline/import/bar-formats.ts'
import { importBars } from '#pipeline/import/bars.ts'
import type { Format, Kind } from '#pipeline/import/format.ts'
import { importLedger } from '#pipeline/import/ledger.ts'
import type { Origin } from '#pipeline/import/read-table.ts'
import { importReturns, RETURNS } from '#pipeline/import/returns.ts'
import { LIST_OF_TRADES, TRADES } from '#pipeline/import/trade-formats.ts'
import {
  createDice,
  csvOf,
  cutAt,
  type Dice,
  type File,
  fileOf,
  type Known,
  LIES,
  MUTATIONS,
  type Table,
  tableIn,
} from './foreign-tables.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2024, 0, 1)
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000', '')

/** Known rows of a format, how a file of them is imported, and whether a row that comes back is one of them. */
type Game = {
  readonly known: readonly Known[]
  readonly read: (file: File, stated: { tz?: string }) => Promise<Read | null>
  readonly isRight: (row: readonly unknown[]) => boolean
}
type Read = Origin & { readonly back: readonly (readonly unknown[])[] }

/** A whole file has no lies about costs. */
type GameOf = (format: Format, dice: Dice, isWhole: boolean) => Game
const GAMES: readonly (readonly [Kind, GameOf])[] = [
  [BARS, barsGame],
  [TRADES, tradesGame],
  [LIST_OF_TRADES, tradesGame],
  [RETURNS, returnsGame],
]

/** Plays the case of a seed: any format, with any change. */
export async function playCase(seed: number) {
  const dice = createDice(seed)
  const [{ formats }, gameOf] = dice.pick(GAMES)
  return play(dice.pick(formats), gameOf, dice, false)
}

/** A file in each format as it is written, with every column that it may have. */
export async function playUnchanged(seed: number) {
  const { below, ...others } = createDice(seed)
  const dice: Dice = { ...others, below: n => (n === 2 ? 0 : below(n)) }
  return Promise.all(
    GAMES.flatMap(([{ formats }, gameOf]) => formats.map(format => play(format, gameOf, dice, true))),
  )
}

/**
 * What became of a file: the name of the format in which it was read, or null if it was refused. `wrong` is set if other values
 * than the known ones came back.
 */
async function play(format: Format, gameOf: GameOf, dice: Dice, isWhole: boolean) {
  const { known, read, isRight } = gameOf(format, dice, isWhole)
  const table = tableIn(format, known, dice)
  const { file, how } = isWhole
    ? { file: { name: 'a.csv', text: csvOf(table) }, how: 'unchanged' }
    : changed(table, dice)
  const zone = dice.below(2) === 0 ? {} : { tz: 'UTC' }
  const what = [format.name, how, ...Object.keys(zone)].join(', ')
  const imported = await read(file, zone)
  if (imported === null) return { what, format: null, wrong: null }
  const { back, formats } = imported
  const rows = format === LIST_OF_TRADES.formats[0] ? 2 * back.length : back.length
  const wrong = back.find(row => !isRight(row))?.join() ?? accounted(imported, rows)
  return { what, format: formats[0]!, wrong }
}

/** A file of a table to which something happened, and what. */
function changed(table: Table, dice: Dice) {
  const lie = dice.below(3) > 0 ? null : dice.pick(Object.keys(LIES))
  const own = dice.pick(Object.keys(MUTATIONS))
  const first = MUTATIONS[own]!(table, dice)
  const whole = fileOf(lie === null ? first : LIES[lie]!(first, dice), dice)
  const isCut = dice.below(20) === 0
  const how = [own, lie ?? '', isCut ? 'cut off' : '', whole.name].join(', ')
  return { file: isCut ? cutAt(whole, dice) : whole, how }
}

/** Why rows disappeared, or null: every row of a file was read, dropped or a header. */
function accounted({ files: [all] }: Origin, read: number): string | null {
  const left = (all?.total ?? 0) - (all?.header ?? 0) - (all?.dropped ?? 0)
  return left === read ? null : `${left} rows were read, and ${read} came back`
}

/** A reading of one file, long after what is in it. */
const readingOf = ({ text }: File) =>
  createReading('', { held: Buffer.from(text), nowMs: Date.UTC(2030, 0, 1) })

/** What is known, as texts. */
const spelled = (values: Readonly<Record<string, unknown>>): Known =>
  Object.fromEntries(Object.entries(values).map(([role, value]) => [role, String(value)]))

function barsGame(format: Format, dice: Dice): Game {
  const timeframe = dice.pick(TIMEFRAMES)
  const stepMs = TIMEFRAME_MS[timeframe]
  const bars = Array.from({ length: 12 + dice.below(20) }, (_, i) => {
    const [o, c] = [dice.number(30_000, 60_000, 2), dice.number(30_000, 60_000, 2)]
    const [h, l] = [Math.max(o, c) + dice.number(1, 900, 2), Math.min(o, c) - dice.number(1, 900, 2)]
    const v = dice.number(0.5, 2000, 4)
    return { t: START_MS + i * stepMs, o, h: Number(h.toFixed(2)), l: Number(l.toFixed(2)), c, v }
  })
  const shown = format.times === 'close' ? stepMs : 0
  const style = dice.below(2) === 0 ? (ms: number): string => String(ms) : iso
  const isSplit = format.columns.filter(({ use }) => use === 't').length > 1
  const known = bars.map(({ t, o, h, l, c, v }) => {
    const time = !format.hasHeader ? String(t) : isSplit ? iso(t) : style(t + shown)
    const derived = { q: Number((v * c).toFixed(4)), vwap: Number(((h + l) / 2).toFixed(2)) }
    const others = { end: t + stepMs - 1, text: iso(t + shown), symbol: 'BTCUSDT', over: true }
    return spelled({ t: time, o, h, l, c, v, ...derived, ...others })
  })
  const read: Game['read'] = async (file, stated) => {
    const paths = [file.name]
    const rules = { paths, timeframe: null, readers: [], drop_last: false, drop_impossible: false, ...stated }
    const imported = await importBars(readingOf(file), rules)
    if (imported === null) return null
    const { t, o, h, l, c, v } = imported.bars
    const back = Array.from(t, (ms, i) => [imported.timeframe, ms, o[i], h[i], l[i], c[i], v[i]])
    return { ...imported, back }
  }
  const texts = bars.map(bar => [timeframe, ...Object.values(bar)].join())
  const right = new Set([...texts, ...texts.map(text => text.replace(/[^,]+$/, 'NaN'))]) // a volume may be left blank
  return { known, read, isRight: row => right.has(row.join()) }
}

const CAPITAL = 100_000

function tradesGame(format: Format, dice: Dice, isWhole: boolean): Game {
  const bps = dice.pick([0, 2, 5])
  // Nothing else shows that the results of a tool that states them after costs are before them.
  const commission_bps = dice.below(2) === 0 ? bps : null
  const isGross = !isWhole && commission_bps !== null && dice.below(6) === 0
  const isFunded = format.name === 'freqtrade' && dice.below(2) === 0
  let [equity, sum] = [CAPITAL, 0]
  const trades = Array.from({ length: 6 + dice.below(12) }, (_, i) => {
    const side = dice.pick(['long', 'short'] as const)
    const [entry_price, exit_price] = [dice.number(30_000, 60_000, 1), dice.number(30_000, 60_000, 1)]
    const quantity = dice.number(0.01, 0.2, 3)
    const gross = Number((quantity * (side === 'long' ? 1 : -1) * (exit_price - entry_price)).toFixed(8))
    const fees = (bps / 1e4) * quantity * (entry_price + exit_price)
    const notional = quantity * entry_price
    const funding = isFunded ? Number((notional * dice.number(-0.0005, 0.0005, 6)).toFixed(6)) : 0
    const net = Number((gross - fees + funding).toFixed(8))
    const fractions = { account_return: net / equity, leverage: notional / equity }
    const pnl = isGross ? gross : net
    equity += net
    sum += pnl
    const from = START_MS + i * DAY_MS
    const times = { entry_time: iso(from), exit_time: iso(from + 72_000_000) }
    const sums = { cumulative: sum.toFixed(2), cumulative_pct: (sum / (CAPITAL / 100)).toFixed(2) }
    const amounts = { trade: i + 1, quantity, gross, fees, funding, pnl, ...sums, ...fractions }
    return { side, ...times, entry_price, exit_price, ...amounts }
  })
  const signed = ['backtesting.py', 'backtrader'].includes(format.name)
  const known = trades.flatMap(trade => {
    const { side, quantity, entry_time, entry_price, exit_time, exit_price } = trade
    const isShort = side === 'short'
    const words = { is_short: isShort, is_open: false, symbol: 'BTC', exit_reason: 'signal', signal: 'rule' }
    const rates = { fee: bps / 1e4, exit_fee: bps / 1e4 }
    const own = { ...trade, ...words, ...rates, quantity: signed && isShort ? -quantity : quantity }
    if (!LIST_OF_TRADES.formats.includes(format)) return [spelled(own)]
    return [
      spelled({ ...own, type: `Exit ${side}`, time: exit_time, price: exit_price }),
      spelled({ ...own, type: `Entry ${side}`, time: entry_time, price: entry_price }),
    ]
  })
  const rules = { bars: null, capital: CAPITAL, realised: false, isUnfunded: false, commission_bps }
  const read: Game['read'] = async (file, stated) => {
    const imported = await importLedger(readingOf(file), file.name, { ...rules, ...stated })
    return imported && { ...imported, back: imported.rows.map(({ fields }) => fields) }
  }
  const byTime = new Map(trades.map(trade => [trade.entry_time, trade]))
  const isRight: Game['isRight'] = ([side, from, entry, to, exit, , , , result]) => {
    const trade = byTime.get(String(from))
    if (trade === undefined) return false
    const fills = [trade.side, trade.entry_price, trade.exit_time, trade.exit_price].join()
    const isNear = result === '' || Math.abs(Number(result) - trade.account_return) <= 1e-4
    return isNear && fills === [side, entry, to, exit].join()
  }
  return { known, read, isRight }
}

function returnsGame(_: Format, dice: Dice): Game {
  const unit = dice.pick(['fraction', 'percent'] as const)
  const days = Array.from({ length: 12 + dice.below(20) }, (_, i) => {
    const ret = dice.number(0.001, 0.03, 6) * (i % 2 === 0 ? 1 : -1)
    return [iso(START_MS + i * DAY_MS).slice(0, 10), ret] as const
  })
  const per = { fraction: 1, percent: 100 }[unit]
  const known = days.map(([t, ret]) => ({ t, ret: String(Number((per * ret).toFixed(6))) }))
  const read: Game['read'] = async (file, stated) => {
    const imported = await importReturns(readingOf(file), file.name, { unit, ...stated })
    return imported && { ...imported, back: imported.rows.map(({ fields }) => fields) }
  }
  const right = new Set(days.map(day => day.join()))
  return { known, read, isRight: row => right.has(row.join()) }
}
