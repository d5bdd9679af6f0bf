// Known bars, trades and returns, written as a file and imported: what came back.

import { createReading } from '#pipeline/book/reading.ts'
import { TIMEFRAME_MS, TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { BARS } from '#pipeline/import/bar-formats.ts'
import { importBars } from '#pipeline/import/bars.ts'
import type { Format } from '#pipeline/import/format.ts'
import { importLedger } from '#pipeline/import/ledger.ts'
import type { Origin } from '#pipeline/import/read-table.ts'
import { TRADES } from '#pipeline/import/trade-formats.ts'
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

/**
 * What became of a file: the name of the format in which it was read, or null if it was refused. `wrong` is set if other values
 * than the known ones came back.
 */
export type Outcome = {
  readonly what: string
  readonly format: string | null
  readonly wrong: string | null
}

/** Makes a file of a table, and says how. */
type Change = (table: Table, dice: Dice) => { readonly file: File; readonly how: string }

/** Plays the case of a seed: any format, with any change. */
export async function playCase(seed: number): Promise<Outcome> {
  const dice = createDice(seed)
  return dice.below(2) === 0
    ? playBars(dice.pick(BARS.formats), dice, byChance)
    : playTrades(dice.pick(TRADES.formats), dice, byChance)
}

const unchanged: Change = table => ({ file: { name: 'a.csv', text: csvOf(table) }, how: 'unchanged' })

/** A file in each format as it is written, with every column that it may have. */
export function playUnchanged(seed: number): Promise<Outcome[]> {
  const { below, ...others } = createDice(seed)
  const dice: Dice = { ...others, below: n => (n === 2 ? 0 : below(n)) }
  return Promise.all([
    ...BARS.formats.map(format => playBars(format, dice, unchanged)),
    ...TRADES.formats.map(format => playTrades(format, dice, unchanged, true)),
  ])
}

/** A reading of one file, long after what is in it. */
const readingOf = ({ text }: File) =>
  createReading('', { held: Buffer.from(text), nowMs: Date.UTC(2030, 0, 1) })

const byChance: Change = (table, dice) => {
  const lie = dice.below(3) > 0 ? null : dice.pick(Object.keys(LIES))
  const own = dice.pick(Object.keys(MUTATIONS))
  const first = MUTATIONS[own]!(table, dice)
  const whole = fileOf(lie === null ? first : LIES[lie]!(first, dice), dice)
  const isCut = dice.below(20) === 0
  return {
    file: isCut ? cutAt(whole, dice) : whole,
    how: [own, lie ?? '', isCut ? 'cut off' : '', whole.name].join(', '),
  }
}

async function playBars(format: Format, dice: Dice, change: Change): Promise<Outcome> {
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
  const known = bars.map(({ t, o, h, l, c, v }): Known => {
    const time = !format.hasHeader ? String(t) : isSplit(format) ? iso(t) : style(t + shown)
    const derived = { q: Number((v * c).toFixed(4)), vwap: Number(((h + l) / 2).toFixed(2)) }
    const others = { end: t + stepMs - 1, text: iso(t + shown), symbol: 'BTCUSDT', over: true }
    return spelled({ t: time, o, h, l, c, v, ...derived, ...others })
  })
  const { file, how } = change(tableIn(format, known, dice), dice)
  const stated = { timeframe: null, readers: [], drop_last: false, drop_impossible: false, tz: 'UTC' }
  const imported = await importBars(readingOf(file), { path: [file.name], ...stated })
  const what = `${format.name}: ${how}`
  if (imported === null) return { what, format: null, wrong: null }
  const byTime = new Map(bars.map(bar => [bar.t, bar]))
  const { t, o, h, l, c, v } = imported.bars
  const wrong = Array.from(t, (ms, i) => ({ ms, i })).find(({ ms, i }) => {
    const bar = byTime.get(ms)
    const isSame = bar !== undefined && bar.o === o[i] && bar.h === h[i] && bar.l === l[i] && bar.c === c[i]
    return !isSame || !(Number.isNaN(v[i]) || v[i] === bar.v)
  })
  const fault =
    imported.timeframe === timeframe ? accounted(imported, t.length) : `timeframe ${imported.timeframe}`
  return {
    ...{ what, format: imported.formats[0] ?? null },
    wrong: wrong === undefined ? fault : `bar ${iso(wrong.ms)}: ${v[wrong.i]}`,
  }
}

/** What is known, as texts. */
const spelled = (values: Readonly<Record<string, unknown>>): Known =>
  Object.fromEntries(Object.entries(values).map(([role, value]) => [role, String(value)]))

const isSplit = ({ columns }: Format): boolean => columns.filter(({ use }) => use === 't').length > 1

/** Why rows disappeared, or null: every row of a file was read, dropped or a header. */
function accounted({ files: [all] }: Origin, read: number): string | null {
  const left = (all?.total ?? 0) - (all?.header ?? 0) - (all?.dropped ?? 0)
  return left === read ? null : `${left} rows were read, and ${read} came back`
}

const CAPITAL = 100_000

async function playTrades(format: Format, dice: Dice, change: Change, isNet = false): Promise<Outcome> {
  const bps = dice.pick([0, 2, 5])
  const isFunded = format.name === 'freqtrade' && dice.below(2) === 0
  let equity = CAPITAL
  const trades = Array.from({ length: 6 + dice.below(12) }, (_, i) => {
    const side = dice.pick(['long', 'short'] as const)
    const [entry, exit] = [dice.number(30_000, 60_000, 1), dice.number(30_000, 60_000, 1)]
    const quantity = dice.number(0.01, 0.2, 3)
    const gross = quantity * (side === 'long' ? 1 : -1) * (exit - entry)
    const fees = (bps / 1e4) * quantity * (entry + exit)
    const funding = isFunded ? Number((quantity * entry * dice.number(-0.0005, 0.0005, 6)).toFixed(6)) : 0
    const pnl = Number((gross - fees + funding).toFixed(8))
    const account_return = pnl / equity
    const leverage = (quantity * entry) / equity
    equity += pnl
    const from = START_MS + i * DAY_MS
    const amounts = { quantity, gross, fees, funding, pnl, account_return, leverage }
    return { side, entry, exit, from, to: from + 20 * 3_600_000, ...amounts }
  })
  const isGross = !isNet && dice.below(6) === 0
  const known = trades.map((trade): Known => {
    const { side, entry, exit, from, to, quantity, gross, pnl } = trade
    const isShort = side === 'short'
    const signed = ['backtesting.py', 'backtrader'].includes(format.name) && isShort ? -quantity : quantity
    const words = { is_short: isShort, is_open: false, symbol: 'BTC', exit_reason: 'signal' }
    const fills = { entry_time: iso(from), entry_price: entry, exit_time: iso(to), exit_price: exit }
    const rates = { fee: bps / 1e4, exit_fee: bps / 1e4 }
    const results = { gross: Number(gross.toFixed(8)), pnl: isGross ? gross : pnl }
    return spelled({ ...trade, ...words, ...fills, ...rates, ...results, quantity: signed })
  })
  const { file, how } = change(tableIn(format, known, dice), dice)
  const stated = { bars: null, capital: CAPITAL, realised: false, isUnfunded: false, tz: 'UTC' }
  const imported = await importLedger(readingOf(file), { path: [file.name], commission_bps: bps, ...stated })
  const what = `${format.name}${isGross ? ' (results before costs)' : ''}: ${how}`
  if (imported === null) return { what, format: null, wrong: null }
  const byTime = new Map(trades.map(trade => [iso(trade.from), trade]))
  const wrong = imported.rows.find(({ fields: [side, from, entry, to, exit, , , , result] }) => {
    const trade = byTime.get(from ?? '')
    if (trade === undefined) return true
    const fills = [trade.side, String(trade.entry), iso(trade.to), String(trade.exit)].join()
    const isSame = fills === [side, entry, to, exit].join()
    return !isSame || (result !== '' && Math.abs(Number(result) - trade.account_return) > 1e-4)
  })
  return {
    ...{ what, format: imported.formats[0] ?? null },
    wrong: wrong === undefined ? accounted(imported, imported.rows.length) : wrong.fields.join(),
  }
}
