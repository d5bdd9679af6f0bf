// Known bars, trades and returns, written as a file and imported: what came back.

import { createReading } from '#pipeline/book/reading.ts'
import { BARS } from '#pipeline/import/bar-formats.ts'
import { importBars } from '#pipeline/import/bars.ts'
import type { Format } from '#pipeline/import/format.ts'
import { importLedger } from '#pipeline/import/ledger.ts'
import { TRADES } from '#pipeline/import/trade-formats.ts'
import {
  createDice,
  cutAt,
  type Dice,
  type File,
  fileOf,
  type Known,
  LIES,
  MUTATIONS,
  tableIn,
} from './foreign-tables.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2024, 0, 1)
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000', '')

/** What became of a file: `read`, or why it was refused. `wrong` is set if other values than the known ones came back. */
export type Outcome = { readonly what: string; readonly read: boolean; readonly wrong: string | null }

/** Plays the case of a seed. */
export async function playCase(seed: number): Promise<Outcome> {
  const dice = createDice(seed)
  return dice.below(2) === 0 ? playBars(dice) : playTrades(dice)
}

/** A reading of one file, long after what is in it. */
const readingOf = ({ text }: File) =>
  createReading('', { held: Buffer.from(text), nowMs: Date.UTC(2030, 0, 1) })

function mutate(table: ReturnType<typeof tableIn>, dice: Dice, isTruth: boolean) {
  const [own, lie] = [dice.pick(Object.keys(MUTATIONS)), isTruth ? null : dice.pick(Object.keys(LIES))]
  const first = MUTATIONS[own]!(table, dice)
  const whole = fileOf(lie === null ? first : LIES[lie]!(first, dice), dice)
  const isCut = dice.below(20) === 0
  return {
    file: isCut ? cutAt(whole, dice) : whole,
    how: [own, lie ?? '', isCut ? 'cut off' : '', whole.name].join(', '),
  }
}

async function playBars(dice: Dice): Promise<Outcome> {
  const [format, stepMs] = [dice.pick(BARS.formats), dice.pick([DAY_MS, 3_600_000])]
  const bars = Array.from({ length: 12 + dice.below(20) }, (_, i) => {
    const [o, c] = [dice.number(30_000, 60_000, 2), dice.number(30_000, 60_000, 2)]
    const [h, l] = [Math.max(o, c) + dice.number(1, 900, 2), Math.min(o, c) - dice.number(1, 900, 2)]
    return {
      t: START_MS + i * stepMs,
      o,
      h: Number(h.toFixed(2)),
      l: Number(l.toFixed(2)),
      c,
      v: dice.number(0.5, 2000, 4),
    }
  })
  const shown = format.times === 'close' ? stepMs : 0
  const style = dice.below(2) === 0 ? (ms: number): string => String(ms) : iso
  const known = bars.map(({ t, o, h, l, c, v }): Known => {
    const time = !format.hasHeader ? String(t) : isSplit(format) ? iso(t) : style(t + shown)
    const text = { o, h, l, c, v, q: Number((v * c).toFixed(4)), vwap: Number(((h + l) / 2).toFixed(2)) }
    const spelled = Object.fromEntries(Object.entries(text).map(([role, value]) => [role, String(value)]))
    return {
      ...spelled,
      t: time,
      end: String(t + stepMs - 1),
      text: iso(t + shown),
      symbol: 'BTCUSDT',
      over: 'true',
    }
  })
  const { file, how } = mutate(tableIn(format, known, dice), dice, dice.below(3) > 0)
  const rules = {
    path: [file.name],
    timeframe: null,
    readers: [],
    drop_last: false,
    drop_impossible: false,
    tz: 'UTC',
  }
  const imported = await importBars(readingOf(file), rules)
  const what = `${format.name}: ${how}`
  if (imported === null) return { what, read: false, wrong: null }
  const byTime = new Map(bars.map(bar => [bar.t, bar]))
  const { t, o, h, l, c, v } = imported.bars
  const wrong = Array.from(t, (ms, i) => ({ ms, i })).find(({ ms, i }) => {
    const bar = byTime.get(ms)
    const isSame = bar !== undefined && bar.o === o[i] && bar.h === h[i] && bar.l === l[i] && bar.c === c[i]
    return !isSame || !(Number.isNaN(v[i]) || v[i] === bar.v)
  })
  return {
    what,
    read: true,
    wrong: wrong === undefined ? accounted(imported, t.length) : `bar ${iso(wrong.ms)}: ${v[wrong.i]}`,
  }
}

const isSplit = ({ columns }: Format): boolean => columns.filter(({ use }) => use === 't').length > 1

/** Why rows disappeared, or null: every row of a file was read, dropped or a header. */
function accounted(
  {
    files,
  }: {
    readonly files: readonly { readonly total: number; readonly header: number; readonly dropped: number }[]
  },
  read: number,
): string | null {
  const [all] = files
  const left = (all?.total ?? 0) - (all?.header ?? 0) - (all?.dropped ?? 0)
  return left === read ? null : `${left} rows were read, and ${read} came back`
}

const CAPITAL = 100_000

async function playTrades(dice: Dice): Promise<Outcome> {
  const format = dice.pick(TRADES.formats)
  const bps = dice.pick([0, 2, 5])
  const isFunded = format.name === 'freqtrade' && dice.below(2) === 0
  let equity = CAPITAL
  const trades = Array.from({ length: 6 + dice.below(12) }, (_, i) => {
    const side = dice.pick(['long', 'short'] as const)
    const [entry, exit, quantity] = [
      dice.number(30_000, 60_000, 1),
      dice.number(30_000, 60_000, 1),
      dice.number(0.01, 0.2, 3),
    ]
    const gross = quantity * (side === 'long' ? 1 : -1) * (exit - entry)
    const [fees, funding] = [(bps / 1e4) * quantity * (entry + exit), isFunded ? dice.number(-9, 9, 6) : 0]
    const pnl = Number((gross - fees + funding).toFixed(8))
    const account_return = pnl / equity
    const leverage = (quantity * entry) / equity
    equity += pnl
    const from = START_MS + i * DAY_MS
    return {
      side,
      entry,
      exit,
      quantity,
      gross,
      fees,
      funding,
      pnl,
      account_return,
      leverage,
      from,
      to: from + 20 * 3_600_000,
    }
  })
  const isGross = dice.below(6) === 0
  const known = trades.map((trade): Known => {
    const { side, quantity, gross, fees, funding, pnl } = trade
    const signed =
      ['backtesting.py', 'backtrader'].includes(format.name) && side === 'short' ? -quantity : quantity
    const numbers = {
      quantity: signed,
      gross: Number(gross.toFixed(8)),
      fees,
      funding,
      fee: bps / 1e4,
      exit_fee: bps / 1e4,
      leverage: trade.leverage,
    }
    const spelled = Object.fromEntries(Object.entries(numbers).map(([role, value]) => [role, String(value)]))
    const prices = { entry_price: String(trade.entry), exit_price: String(trade.exit) }
    return {
      ...{ ...spelled, ...prices, side, is_short: String(side === 'short'), is_open: 'false', symbol: 'BTC' },
      ...{ entry_time: iso(trade.from), exit_time: iso(trade.to), exit_reason: 'signal' },
      ...{ pnl: String(isGross ? gross : pnl), account_return: String(trade.account_return) },
    }
  })
  const { file, how } = mutate(tableIn(format, known, dice), dice, dice.below(3) > 0)
  const rules = {
    path: [file.name],
    bars: null,
    capital: CAPITAL,
    realised: false,
    isUnfunded: false,
    tz: 'UTC',
    commission_bps: bps,
  }
  const imported = await importLedger(readingOf(file), rules)
  const what = `${format.name}${isGross ? ' (results before costs)' : ''}: ${how}`
  if (imported === null) return { what, read: false, wrong: null }
  const byTime = new Map(trades.map(trade => [iso(trade.from), trade]))
  const wrong = imported.rows.find(({ fields: [side, from, entry, to, exit, , , , result] }) => {
    const trade = byTime.get(from ?? '')
    if (trade === undefined) return true
    const isSame =
      trade.side === side &&
      String(trade.entry) === entry &&
      iso(trade.to) === to &&
      String(trade.exit) === exit
    return !isSame || (result !== '' && Math.abs(Number(result) - trade.account_return) > 1e-4)
  })
  return {
    what,
    read: true,
    wrong: wrong === undefined ? accounted(imported, imported.rows.length) : wrong.fields.join(),
  }
}
