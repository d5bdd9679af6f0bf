// Ordinary files of each kind that was read wrongly once: read with the right values, or refused with the remedy.
import { expect, test } from 'vitest'
import { formatProblem } from '#pipeline/book/problem.ts'
import { createReading } from '#pipeline/book/reading.ts'
import { importLedger } from '#pipeline/import/ledger.ts'
import { importReturns } from '#pipeline/import/returns.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { importingFiles } from './bars-from-elsewhere.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2024, 0, 1)
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000', '')
const table = (header: string, rows: readonly string[]): string => `${[header, ...rows].join('\n')}\n`
const problemsOf = ({ problems }: ReturnType<typeof createReading>): string =>
  problems.sorted().map(formatProblem).join('\n')
const held = (text: string) => createReading('', { held: Buffer.from(text) })

const BARS = Array.from({ length: 9 }, (_, i) => {
  const [o, c] = [40_000 + ((i * 7919) % 900), 40_000 + (((i + 1) * 7919) % 900)]
  const [h, l] = [Math.max(o, c) + 50.5, Math.min(o, c) - 40.25]
  return { t: START_MS + i * DAY_MS, o, h, l, c, v: 100.25 + i }
})
type Bar = (typeof BARS)[number]
const bars = (header: string, row: (bar: Bar, i: number) => readonly unknown[]): string =>
  table(
    header,
    BARS.map((bar, i) => row(bar, i).join()),
  )

async function readBars(name: string, text: string, more: object) {
  const { rows, problems } = await importingFiles({ [name]: text }, more)
  return rows?.map(([t, o, , , , v]) => `${t} ${o} ${v}`).join('\n') ?? problems.join('\n')
}

const RIGHT = BARS.map(({ t, o, v }) => `${t} ${o} ${v}`).join('\n')
const NO_VOLUME = BARS.map(({ t, o }) => `${t} ${o} NaN`).join('\n')

test.each(casesOf<[string, string, string, object, string]>`
closing time in the place of the volume -> a.csv -> ${bars('', b => [b.t, b.o, b.h, b.l, b.c, b.t + DAY_MS - 1]).slice(1)} -> ${{}} -> known order of columns
quote volume under the name of the volume, beside the base -> a.csv -> ${bars('t,o,h,l,c,v,quote volume', b => [b.t, b.o, b.h, b.l, b.c, b.v * b.c, b.v * 3])} -> ${{ times: 'open' }} -> ${NO_VOLUME}
times that are stated to be closes -> a.csv -> ${bars('t,o,h,l,c,v', b => [b.t + DAY_MS, b.o, b.h, b.l, b.c, b.v])} -> ${{ times: 'close' }} -> ${RIGHT}
columns of unknown names, by name and place -> a.csv -> ${bars('Datum,Anfang,Hoch,Tief,Schluss,Menge', b => [b.t, b.o, b.h, b.l, b.c, b.v])} -> ${{ columns: { t: 'Datum', o: 'Anfang', h: 'Hoch', l: 'Tief', c: 5, v: 'Menge' }, times: 'open' }} -> ${RIGHT}
a column close time alone -> a.csv -> ${bars('Close Time,Open,High,Low,Close,Volume', b => [iso(b.t + DAY_MS), b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> ${RIGHT}
other buckets -> a.csv -> ${bars('time,open,high,low,close,volume,trades,period', b => [iso(b.t + DAY_MS), b.o, b.h, b.l, b.c, b.v, 3, 'D1'])} -> ${{}} -> --times open or --times close
whole turnovers, which could be numbers of trades, without a header -> a.csv -> ${bars('', b => [b.t, b.o, b.h, b.l, b.c, b.v, Math.round(b.v * b.c)]).slice(1)} -> ${{}} -> ${RIGHT}
eleven fields of a kline, without a header -> a.csv -> ${bars('', b => [b.t, b.o, b.h, b.l, b.c, b.v, b.t + DAY_MS - 1, b.v * b.c, 3, 1, 1]).slice(1)} -> ${{}} -> ${RIGHT}
the value of all coins beside the volume -> a.csv -> ${bars('timestamp,open,high,low,close,volume,Market Cap', b => [b.t, b.o, b.h, b.l, b.c, b.v, 9e11])} -> ${{ times: 'open' }} -> ${RIGHT}
a settlement beside the close -> a.csv -> ${bars('timestamp,open,high,low,Settle,close,volume', b => [b.t, b.o, b.h, b.l, b.c + 1, b.c, b.v])} -> ${{ times: 'open' }} -> "Settle" is
open time and close time -> a.csv -> ${bars('open time,close time,open,high,low,close,volume', b => [b.t, b.t + DAY_MS, b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> "close time" is
date and time in two columns -> a.csv -> ${bars('<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>', () => []).replace(/\n[\s\S]*/, '\n')}${BARS.map(b => `${[iso(b.t).slice(0, 10).replaceAll('-', '.'), '00:00:00', b.o, b.h, b.l, b.c, 9, b.v, 1].join('\t')}\n`).join('')} -> ${{ tz: 'UTC' }} -> ${RIGHT}
epochs beside local times -> a.csv -> ${bars('timems,timeutc,open,high,low,close,volume', b => [b.t, iso(b.t + 3_600_000).slice(0, 16), b.o, b.h, b.l, b.c, b.v])} -> ${{ tz: '+01:00' }} -> ${RIGHT}
epochs beside local times of another zone than UTC, which is not stated -> a.csv -> ${bars('timems,timeutc,open,high,low,close,volume', b => [b.t, iso(b.t + 3_600_000).slice(0, 16), b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> 2: t: expected one time in both columns, got 2024-01-01T00:00:00Z and 2024-01-01T01:00:00Z
two columns that are stated -> a.csv -> ${bars('Tag,Uhr,open,high,low,close,volume', b => [iso(b.t).slice(0, 10), '00:00', b.o, b.h, b.l, b.c, b.v])} -> ${{ tz: 'UTC', columns: { t: 'Tag+Uhr' }, times: 'open' }} -> ${RIGHT}
the date of hours alone -> a.csv -> ${bars('date,Time of day,open,high,low,close,volume', (b, i) => [iso(START_MS).slice(0, 10), `${i}:00`, b.o, b.h, b.l, b.c, b.v])} -> ${{ tz: 'UTC', times: 'open' }} -> t=DATE+TIME for a time in two
thousands in later rows -> a.csv -> ${bars('timestamp,open,high,low,close,volume', (b, i) => [b.t, i > 3 ? `"${b.o.toLocaleString('en')}.50"` : b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> thousands separators: export
units -> a.csv -> ${bars('timestamp,open,high,low,close,volume', b => [b.t, `$${b.o}`, b.h, b.l, b.c, b.v])} -> ${{}} -> a unit: export the number alone
columns of two instruments -> a.json -> ${JSON.stringify({ BTC: { t: [1, 2], o: [1, 2] }, ETH: { t: [1, 2], o: [1, 2] } })} -> ${{}} -> expected one object of columns, got 2
names beside the rows -> a.json -> ${JSON.stringify({ columns: ['close_time', 'open', 'high', 'low', 'close', 'v'], data: BARS.map(b => [b.t, b.o, b.h, b.l, b.c, b.v]) })} -> ${{}} -> a list of names beside them
two instruments under another name -> a.csv -> ${bars('instId,timestamp,open,high,low,close,volume', (b, i) => [i < 4 ? 'BTC' : 'ETH', b.t, b.o, b.h, b.l, b.c, b.v])} -> ${{ times: 'open' }} -> expected one instrument, got BTC and ETH
two timeframes -> a.csv -> ${bars('timestamp,open,high,low,close,volume', (b, i) => [i < 5 ? b.t : START_MS + 4 * DAY_MS + (i - 4) * 3_600_000, b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> expected bars of one timeframe
a name of the time that has end in it -> a.csv -> ${bars('calendar_date,open,high,low,close,volume', b => [b.t, b.o, b.h, b.l, b.c, b.v])} -> ${{ columns: { t: 'calendar_date' } }} -> --times open or --times close
two volumes, one of them stated -> a.csv -> ${bars('timestamp,open,high,low,close,Volume,Volume ETH', b => [b.t, b.o, b.h, b.l, b.c, b.v, 5])} -> ${{ times: 'open', columns: { v: 'Volume' }, ignore: ['Volume ETH'] }} -> ${RIGHT}
rows of data above a header -> a.csv -> ${START_MS},1,2,1,2\n${bars('timestamp,open,high,low,close,volume', b => [b.t, b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> 1: expected a header, or a banner of fewer fields
columns instead of rows -> a.json -> ${JSON.stringify({ s: 'ok', ...Object.fromEntries(['t', 'o', 'h', 'l', 'c', 'v'].map(name => [name, BARS.map(b => b[name as keyof Bar])])) })} -> ${{}} -> ${RIGHT}
a title and a date above the header -> a.csv -> Prices of X\n\nmade, today\n${bars('timestamp,open,high,low,close,volume', b => [b.t, b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> ${RIGHT}
a second header in the middle -> a.csv -> ${bars('timestamp,open,high,low,close,volume', b => [b.t, b.o, b.h, b.l, b.c, b.v]).repeat(2)} -> ${{}} -> 11: o: expected a number, got "open"
a row that is none above the header -> a.csv -> a,b,c,d,e,f\n${bars('timestamp,open,high,low,close,volume', b => [b.t, b.o, b.h, b.l, b.c, b.v])} -> ${{}} -> 1: expected columns for t, o, h, l, c of bars, got no column for t in "a,b,c,d,e,f": state the names of the file`)(
  'a file of bars with %s is read right, or refused with the remedy',
  async (_, name, text, more, right) => {
    const read = await readBars(name, text, more)
    if (/^\d+ \d/.test(right)) expect(read).toBe(right)
    else expect(read).toContain(right)
  },
)

const CAPITAL = 10_000
const TRADES = Array.from({ length: 12 }, (_, i) => {
  const side = i % 2 === 0 ? 'long' : 'short'
  const [entry, exit] = [40_000 + ((i * 7919) % 900), 40_000 + (((i + 3) * 6863) % 1500)]
  const gross = 0.1 * (side === 'long' ? 1 : -1) * (exit - entry)
  const [fees, maker] = [
    0.1 * (entry + exit) * 0.0005,
    0.1 * (entry * (i % 3 === 0 ? 0.0005 : 0.0002) + exit * 0.0005),
  ]
  const [from, to] = [iso(START_MS + i * DAY_MS), iso(START_MS + i * DAY_MS + 3_600_000)]
  return { side, from, to, entry, exit, gross, fees, maker }
})
type Trade = (typeof TRADES)[number]
const AGAIN = [...TRADES, TRADES[3]!]
const trades = (header: string, row: (trade: Trade, i: number) => readonly unknown[], all = TRADES): string =>
  table(
    header,
    all.map((trade, i) => row(trade, i).join()),
  )

async function readTrades(name: string, text: string, more: object = {}) {
  const reading = held(text)
  const stated = { bars: null, capital: CAPITAL, realised: false, isUnfunded: false, commission_bps: null }
  const imported = await importLedger(reading, name, { ...stated, ...more })
  if (imported === null) return problemsOf(reading)
  const shorts = imported.rows.filter(({ fields }) => fields[0] === 'short').length
  const open = imported.rows.filter(({ fields }) => fields[3] === '').length
  const paid = imported.rows.filter(({ fields }) => fields[9] !== '').length
  return `${imported.rows.length} trades, ${shorts} short, ${open} open, ${imported.account?.totals.net_profit.toFixed(2) ?? 'no account'}, fees of ${paid}, fall of ${imported.account?.totals.max_drawdown_pct.toFixed(4)}`
}

const LOW = Float64Array.from({ length: 40 }, (_, i) => 40_000 + 100 * i)
const HOURS = LOW.map((_, i) => START_MS + i * 3_600_000)
const RISING = { t: HOURS, l: LOW, h: LOW.map(low => low + 100), timeframeMs: 3_600_000 }
const NET = TRADES.reduce((sum, { gross, fees }) => sum + gross - fees, 0).toFixed(2)
const MAKER = TRADES.reduce((sum, { gross, maker }) => sum + gross - maker, 0).toFixed(2)
const ALL = `12 trades, 6 short, 0 open, ${NET}, fees of 0, fall of -2.9887`
const PLAIN = 'side,entry_time,entry_price,exit_time,exit_price,qty,pnl'
function plain({ side, from, entry, to, exit, gross, fees }: Trade, pnl = gross - fees): readonly unknown[] {
  return [side, from, entry, to, exit, 0.1, pnl.toFixed(6)]
}
const FLAGS = 'pair,amount,open_date,close_date,open_rate,close_rate,profit_abs,is_short'
const flags = (word: (isShort: boolean) => string) =>
  trades(FLAGS, t => {
    const [side, from, entry, to, exit, quantity, pnl] = plain(t)
    return ['X', quantity, from, to, entry, exit, pnl, word(side === 'short')]
  })

test.each(casesOf<[string, string, object, string]>`
no capital -> ${trades(PLAIN, t => plain(t))} -> ${{ capital: undefined }} -> expected the capital at the start, which is not in the file: state it with --capital
averages of several hours in an account of few trades -> ${table(PLAIN, ['long,2024-01-01T02:00:00,40350,2024-01-01T09:00:00,41050,0.1,70'])} -> ${{ bars: RISING, realised: true, tz: 'UTC', commission_bps: 0 }} -> 1 trades, 0 short, 0 open, 70.00
is_short in capitals -> ${flags(is => String(is).toUpperCase())} -> ${{}} -> ${ALL}
is_short as pandas writes it -> ${flags(is => (is ? 'True' : 'False'))} -> ${{}} -> ${ALL}
is_short as yes and no -> ${flags(is => (is ? 'Yes' : 'No'))} -> ${{}} -> ${ALL}
is_short in another language -> ${flags(is => (is ? 'ja' : 'nein'))} -> ${{}} -> 2: is_short: expected true or false, got "nein"
no column of sides -> ${trades(FLAGS.replace(',is_short', ''), t => ['X', 0.1, t.from, t.to, t.entry, t.exit, (t.gross - t.fees).toFixed(6)])} -> ${{}} -> the sides contradict the results
sides in words of orders -> ${trades(PLAIN, t => [t.side === 'long' ? 'BUY' : 'SELL', ...plain(t).slice(1)])} -> ${{}} -> ${ALL}
sides in another language -> ${trades(PLAIN, t => [t.side === 'long' ? 'Kauf' : 'Verkauf', ...plain(t).slice(1)])} -> ${{}} -> 2: side: expected long, short, buy or sell, got "Kauf"
the sides of the closing orders -> ${trades(PLAIN, t => [t.side === 'long' ? 'sell' : 'buy', ...plain(t).slice(1)])} -> ${{}} -> is this the side of the closing order?
sides and quantities of other signs -> ${trades(PLAIN, t => plain(t).with(5, t.side === 'long' ? -0.1 : 0.1))} -> ${{}} -> expected one side, long or short, or the sign of a quantity, got long and short
the last trade as Open -> ${trades(`${PLAIN},Status`, (t, i) => [...plain(t), i === 11 ? 'Open' : 'Closed'])} -> ${{ columns: { is_open: 'Status' } }} -> 12 trades, 6 short, 1 open
the last trade with a status of another language -> ${trades(`${PLAIN},Status`, (t, i) => [...plain(t), i === 11 ? 'offen' : 'zu'])} -> ${{ columns: { is_open: 'Status' } }} -> is_open: expected true, false, open or closed, got "zu"
an open trade on top -> ${table(PLAIN, ['long,2023-12-01T00:00:00Z,40000,,,0.1,', ...TRADES.map(t => plain(t).join())])} -> ${{}} -> 13 trades, 6 short, 1 open
results before the fees beside them -> ${trades(`${PLAIN},Fees`, t => [...plain(t, t.gross), t.fees.toFixed(6)])} -> ${{}} -> state --results before-costs
the same, stated -> ${trades(`${PLAIN},Fees`, t => [...plain(t, t.gross), t.fees.toFixed(6)])} -> ${{ results: 'before-costs' }} -> ${ALL}
results after the fees beside them -> ${trades(`${PLAIN},Fees`, t => [...plain(t), t.fees.toFixed(6)])} -> ${{}} -> ${ALL}
fees as losses -> ${trades(`${PLAIN},Commission`, t => [...plain(t), (-t.fees).toFixed(6)])} -> ${{}} -> ${ALL}
fees of makers and takers -> ${trades(`${PLAIN},Fees`, t => [...plain(t, t.gross - t.maker), t.maker.toFixed(6)])} -> ${{}} -> 12 trades, 6 short, 0 open, ${MAKER}, fees of 12
fees under an unknown name -> ${trades(`${PLAIN},Gebühr`, t => [...plain(t, t.gross), t.fees.toFixed(6)])} -> ${{}} -> "Gebühr" is, because such a column can change a figure
exactly what the prices give -> ${trades(PLAIN, t => plain(t, t.gross))} -> ${{}} -> state --commission-bps 0 if nothing was paid, or --results before-costs
before costs, and a commission stated -> ${trades(PLAIN, t => plain(t, t.gross))} -> ${{ commission_bps: 5 }} -> state --results before-costs
the same, stated -> ${trades(PLAIN, t => plain(t, t.gross))} -> ${{ commission_bps: 5, results: 'before-costs' }} -> ${ALL}
another commission than is stated -> ${trades(PLAIN, t => plain(t))} -> ${{ commission_bps: 2 }} -> they show a commission of 5 bp a fill
results that do not follow -> ${trades(PLAIN, (t, i) => plain(t, t.gross - t.fees + (i % 3) * 4))} -> ${{}} -> --column fees=NAME and --column funding=NAME
gross and net -> ${trades('ref,data,size,entrydate,entryprice,exitdate,exitprice,pnl,pnlcomm', (t, i) => [i, 'X', t.side === 'long' ? 0.1 : -0.1, t.from, t.entry, t.to, t.exit, t.gross.toFixed(6), (t.gross - t.fees).toFixed(6)])} -> ${{}} -> ${ALL}
gross and net under other names -> ${trades(`${PLAIN},Gross result`, t => [...plain(t), t.gross.toFixed(6)])} -> ${{}} -> "Gross result" is
a first column Trade number -> ${trades(`Trade number,${PLAIN}`, (t, i) => [i + 1, ...plain(t)])} -> ${{}} -> "Trade number" is
the same, ignored -> ${trades(`Trade number,${PLAIN}`, (t, i) => [i + 1, ...plain(t)])} -> ${{ ignore: ['Trade number'] }} -> ${ALL}
units in the first rows -> ${trades(PLAIN, (t, i) => (i < 3 ? plain(t).with(5, '0.1 BTC') : plain(t)))} -> ${{}} -> 2: quantity: expected a number, got "0.1 BTC", which has a unit
the minus sign U+2212 -> ${trades(PLAIN, t => plain(t).with(6, String(plain(t)[6]).replace('-', '\u2212')))} -> ${{}} -> ${ALL}
thousands separators -> ${trades(PLAIN, t => plain(t).with(2, `"${t.entry.toLocaleString('en')}"`))} -> ${{}} -> which has thousands separators
an inverse contract -> ${trades(PLAIN, t => plain(t, 1000 * (t.side === 'long' ? 1 : -1) * (1 / t.entry - 1 / t.exit)).with(5, 1000))} -> ${{}} -> an inverse contract
fills -> ${trades('time,side,price,qty,fee', t => [t.from, t.side === 'long' ? 'buy' : 'sell', t.entry, 0.1, 1])} -> ${{}} -> what looks like fills or orders: export the trades
headings in another language -> ${trades('Trade-Nr.,Typ,Datum,Preis', t => [1, 'Einstieg', t.from, t.entry])} -> ${{}} -> set the language of the tool to English
a table that resembles one of a tool, before its fees -> ${trades('size,entry_price,exit_price,entry_time,exit_time,pnl,entry_fee,exit_fee', t => [t.side === 'long' ? 0.1 : -0.1, t.entry, t.exit, t.from, t.to, t.gross.toFixed(6), (t.fees / 2).toFixed(6), (t.fees / 2).toFixed(6)])} -> ${{}} -> state --results before-costs
an account of lots whose results may be before costs -> ${trades(PLAIN, t => plain(t, t.gross * 20))} -> ${{ realised: true, commission_bps: 5 }} -> take the account with --realised, --results and --commission-bps
fees and funding beside fractions -> ${trades('side,entry_time,entry_price,exit_time,exit_price,leverage,account_return,fees,comment', t => [t.side, t.from, t.entry, t.to, t.exit, 1, t.gross / 4000, 0.0005, 'x'])} -> ${{}} -> got fractions
fees in another unit -> ${trades(`${PLAIN},Fee`, t => [...plain(t, t.gross), t.fees / 600])} -> ${{}} -> exactly what the prices give
the same, and a commission stated -> ${trades(`${PLAIN},Fee`, t => [...plain(t, t.gross), t.fees / 600])} -> ${{ commission_bps: 5 }} -> expected the commission of 5 bp a fill that is stated, got fees of 0.01 bp
the coin of the fees -> ${trades(`${PLAIN},Fees,Fee Coin`, t => [...plain(t), t.fees.toFixed(6), 'BNB'])} -> ${{}} -> "Fee Coin" is
fees paid -> ${trades(`${PLAIN},Fees Paid`, t => [...plain(t, t.gross), t.fees.toFixed(6)])} -> ${{}} -> "Fees Paid" is
amounts with a sign of the currency -> ${trades(`${PLAIN},Brokerage`, t => [...plain(t, t.gross), `$${t.fees.toFixed(2)}`])} -> ${{}} -> "Brokerage" is
results before costs of an account -> ${trades(PLAIN, t => plain(t, t.gross))} -> ${{ realised: true }} -> exactly what the prices give
the sides of the closing orders of small moves -> ${trades(PLAIN, t => [t.side === 'long' ? 'sell' : 'buy', t.from, 40_000, t.to, t.side === 'long' ? 40_036 : 39_964, 0.1, 3.2])} -> ${{ realised: true }} -> is this the side of the closing order?
small moves -> ${trades(PLAIN, t => [t.side, t.from, 40_000, t.to, t.side === 'long' ? 40_036 : 39_964, 0.1, 3.2])} -> ${{}} -> 12 trades, 6 short
a result that is blank -> ${trades(PLAIN, (t, i) => (i === 4 ? plain(t).with(6, '') : plain(t)))} -> ${{}} -> 6: expected a quantity above 0 and a result of each trade
neither amounts nor fractions -> ${trades('side,entry_time,entry_price,exit_time,exit_price', t => plain(t).slice(0, 5))} -> ${{}} -> 2: expected a quantity and a result of each trade, or leverage, stop or account_return, got none of them
one trade of no known commission -> ${table(PLAIN, [plain(TRADES[0]!).join()])} -> ${{}} -> no evidence: state --commission-bps
semicolons in texts -> ${trades(`${PLAIN},Comment`, t => [...plain(t), 'a;b;c'])} -> ${{}} -> ${ALL}
funding, and none stated -> ${trades(`${PLAIN},funding_fees`, t => [...plain(t, t.gross - t.fees - 1), -1])} -> ${{ isUnfunded: true }} -> 2: funding: expected none, because --no-funding
a little funding -> ${trades(`${PLAIN},funding_fees`, t => [...plain(t, t.gross - t.fees - 0.05), -0.05])} -> ${{ commission_bps: 5 }} -> 12 trades, 6 short, 0 open
results with the fees alone beside a little funding -> ${trades(`${PLAIN},Fees,funding_fees`, (t, i) => [...plain(t), t.fees.toFixed(6), i % 3 === 0 ? -1 : 0])} -> ${{ realised: true }} -> got ones with the fees alone: bring a column with the whole result
a trade twice -> ${trades(PLAIN, t => plain(t), AGAIN)} -> ${{}} -> 14: expected each trade once, got row 5 again
equal parts with numbers of their own -> ${trades(`id,${PLAIN}`, (t, i) => [i, ...plain(t)], AGAIN)} -> ${{}} -> 13 trades, 7 short`)(
  'a table of trades with %s is read right, or refused with the remedy',
  async (_, text, more, right) => {
    expect(await readTrades('a.csv', text, more)).toContain(right)
  },
)

const DAYS = [0.0123, -0.0041, 0.0007, -0.0188, 0.0211, 0.0034, -0.0093, 0.0102, -0.0055, 0.0016]
const days = (header: string, spell: (ret: number, i: number) => string, separator = ','): string =>
  table(
    header,
    DAYS.map((ret, i) => `${iso(START_MS + i * DAY_MS).slice(0, 10)}${separator}${spell(ret, i)}`),
  )
function newestFirst(text: string): string {
  const [header = '', ...rows] = text.trim().split('\n')
  return table(header, rows.reverse())
}
const sums = DAYS.map((_, i) => DAYS.slice(0, i + 1).reduce((sum, ret) => sum + Math.abs(ret), 0))

test.each(casesOf<[string, string, object, string]>`
a blank first day -> ${days('date,ret', (ret, i) => (i === 0 ? '' : String(ret)))} -> ${{}} -> 9 days from -0.0041
a blank first day, newest first -> ${newestFirst(days('date,ret', (ret, i) => (i === 0 ? '' : String(ret))))} -> ${{}} -> 9 days from -0.0041
a day twice -> ${days('date,ret', String)}${iso(START_MS + 9 * DAY_MS).slice(0, 10)},0.0016\n -> ${{}} -> 10 days from 0.0123
percents by name -> ${days('date,Return %', String)} -> ${{}} -> whose name says percent: state --unit percent
a blank day inside -> ${days('date,ret', (ret, i) => (i === 4 ? '' : String(ret)))} -> ${{}} -> 6: ret: expected a return, got nothing
the header of a series -> ${days(',0', String)} -> ${{}} -> 10 days from 0.0123
the header of a named series -> ${days('date,returns', String)} -> ${{}} -> 10 days from 0.0123
percents with signs -> ${days('date,ret', ret => `${ret > 0 ? '+' : ''}${(100 * ret).toFixed(2)} %`)} -> ${{ unit: 'percent' }} -> 10 days from 0.0123
percents as fractions -> ${days('date,ret', ret => `${(100 * ret).toFixed(2)}%`)} -> ${{}} -> a percent sign: state --unit percent
cumulative returns -> ${days('date,Returns', (_, i) => sums[i]!.toFixed(6))} -> ${{}} -> look like cumulative returns
the account -> ${days('date,return', (_, i) => (1000 * (1 + DAYS.slice(0, i + 1).reduce((sum, ret) => sum + ret, 0))).toFixed(2))} -> ${{}} -> look like cumulative returns or the account itself
returns that all rise, stated -> ${days('date,ret', (_, i) => (0.001 * (i + 1)).toFixed(4))} -> ${{ results: 'per-day' }} -> 10 days from 0.001
a few days that differ from 0 -> ${days('date,ret', (_, i) => (i === 0 ? '0.02' : i === 9 ? '0.03' : '0'))} -> ${{}} -> 10 days from 0.02
decimal commas -> ${days('date;ret', ret => String(ret).replace('.', ','), ';')} -> ${{}} -> a decimal comma
the minus sign U+2212 -> ${days('date,ret', ret => String(ret).replace('-', '\u2212'))} -> ${{}} -> 10 days from 0.0123
returns of two things -> ${days('date,ret,benchmark', ret => `${ret},0.001`)} -> ${{}} -> "benchmark" is`)(
  'a file of returns with %s is read right, or refused with the remedy',
  async (_, text, more, right) => {
    const reading = held(text)
    const imported = await importReturns(reading, 'a.csv', { unit: 'fraction', ...more })
    const read = imported?.rows.map(({ fields }) => fields[1])
    expect(imported === null ? problemsOf(reading) : `${read?.length} days from ${read?.[0]}`).toContain(
      right,
    )
  },
)
