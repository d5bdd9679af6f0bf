import type { Bar } from '#core/replay/strategy.ts'
import { parseDecimal, parseForeignMoment } from '../book/cell.ts'
import { UTC } from '../book/zone.ts'
import { type Cell, declare, type Format, type Kind } from './format.ts'
import { toFlag } from './values.ts'

const OHLC = 'open: o; high: h; low: l; close: c'
const KLINES = 't; o; h; l; c; v; end; q'
const COUNT = '(the number of trades)'
const BASE = 'volume|volume(?!usd|eur|gbp|busd|try|jpy|krw)[a-z]{2,5}'
const QUOTE = 'volume(?:usdt|usdc|usd|eur|gbp|busd|try|jpy|krw)'

const open = (name: string, text: string, below?: RegExp): Format =>
  declare(name, text, { times: 'open', ...(below === undefined ? {} : { below }) })

/** Files and answers of exchanges, and of tools that get bars from them. */
const FORMATS: readonly Format[] = [
  open('highwater', `t: t; o: o; h: h; l: l; c: c; v: v; confirm|complete|isclosed?: over; n?: ${COUNT}`),
  open(
    'cryptodatadownload',
    `unix|unixtimestamp?: t; date?: text; symbol: symbol; ${OHLC}; ${BASE}: v; ${QUOTE}: q
     tradecount?: ${COUNT}; buytaker\\w+*: (the part of buyers)`,
  ),
  open(
    'binance',
    `opentime: t; ${OHLC}; volume: v; closetime: end; quotevolume|quoteassetvolume: q
     count|numberoftrades?: ${COUNT}; takerbuy\\w+*: (the part of buyers); ignore?: (nothing)`,
  ),
  open(
    'hyperliquid',
    `t: t; T: end; s: symbol; i: (the timeframe); o: o; c: c; h: h; l: l; v: v; n: ${COUNT}`,
  ),
  open('kraken', `time|timestamp: t; ${OHLC}; volume: v; vwap?: vwap; trades|count: ${COUNT}`),
  open('htx', `id: t; ${OHLC}; amount: v; vol: q; count: ${COUNT}`),
  declare(
    'bitmex',
    `timestamp: t; symbol: symbol; ${OHLC}; trades: ${COUNT}; volume: (contracts); vwap?: vwap; lastsize?: (the last trade)
     turnover?: (in the smallest unit of the settlement); homenotional: v; foreignnotional: q`,
    { times: 'close' },
  ),
  open(
    'metatrader',
    `date: t; time?: t; ${OHLC}; tickvol: (the number of price changes); vol: v; spread?: (the spread)`,
  ),
  open(
    'yfinance',
    `price: t; adjclose?: (the close, adjusted); ${OHLC}; volume: v`,
    /^(?:ticker|date|datetime)$/i,
  ),
  open('yahoo/freqtrade', `date: t; ${OHLC}; adjclose?: (the close, adjusted); volume: v`),
  open('tradingview-chart', `time: t; ${OHLC}; volume?: v`),
  open('bitvavo', `datetime: t; ${OHLC}; volume: v`),
  open('bitstamp/ccxt', `timestamp: t; ${OHLC}; volume: v`),
  open('epochs-and-dates', `timems: t; timeutc: text; ${OHLC}; volume: v`),
  open('binance', `${KLINES}; ${COUNT}; (the part of buyers); (the part of buyers); (nothing)`),
  open('binance', `${KLINES}; ${COUNT}; (the part of buyers); (the part of buyers)`),
  open('binance-spot', KLINES),
  open('binance-spot', `${KLINES}; ${COUNT}`),
  open('kraken-api', `t; o; h; l; c; vwap; v; ${COUNT}`),
  open('okx', 't; o; h; l; c; v; (the volume in another unit); q; over'),
  open('gate', 't; q; c; h; l; o; v; over'),
  open('bybit/bitget', 't; o; h; l; c; v; q'),
  open('kucoin', 't; o; c; h; l; v; q'),
  open('kraken', `t; o; h; l; c; v; ${COUNT}`),
  open('ccxt/freqtrade/bitvavo', 't; o; h; l; c; v'),
  open('coinbase', 't; l; h; o; c; v'),
  open('bitfinex', 't; o; c; h; l; v'),
]

/** No bar is so long. */
const YEAR_MS = 366 * 86_400_000

/** Whether a number is an epoch near a time, epoch milliseconds: that is no volume. */
export const isTimeNear = (value: number, ms: number): boolean =>
  Number.isInteger(value) && Math.abs(parseForeignMoment(String(value), UTC) - ms) < YEAR_MS

/** Whether a price lies in a bar, with some room for the rounding of a quotient. */
export const isInside = (price: number, { l, h }: Pick<Bar, 'l' | 'h'>): boolean =>
  price >= l * 0.99 && price <= h * 1.01

/** In seconds an epoch may be a volume by chance. */
const MOST_SECONDS = 1e11

/** A market has fewer trades in a bar; an epoch is larger. */
const MOST_TRADES = 1e9

/** By use: whether a number, or the text of it, can be that of a column beside the others of its row. */
const TESTS: Readonly<Record<string, (own: number, bar: Omit<Bar, 'o' | 'c'>, text: string) => boolean>> = {
  t: (_, { t }) => !Number.isNaN(t),
  o: (own, { l, h }) => own >= l && own <= h,
  h: own => own > 0,
  l: own => own > 0,
  c: (own, { l, h }) => own >= l && own <= h,
  v: (own, { t }) => own >= 0 && !(own > MOST_SECONDS && isTimeNear(own, t)),
  end: (_, { t }, text) => parseForeignMoment(text, UTC) > t,
  q: (own, bar) => bar.v === 0 || isInside(own / bar.v, bar),
  vwap: (own, bar) => bar.v === 0 || isInside(own, bar),
  over: (_, __, text) => toFlag(text) !== undefined,
  [COUNT]: own => Number.isInteger(own) && own >= 0 && own < MOST_TRADES,
}

/** Blanks may be anywhere; a row without a time or prices is reported, or dropped, when it is read. */
function fits(use: string, cell: Cell): boolean {
  const [text, test] = [cell(use), TESTS[use]]
  if (text === '' || test === undefined) return true
  const [l, h, v] = [parseDecimal(cell('l')), parseDecimal(cell('h')), parseDecimal(cell('v'))]
  return test(parseDecimal(text), { t: parseForeignMoment(cell('t'), UTC), l, h, v }, text)
}

export const BARS: Kind = {
  noun: 'bars',
  roles: {
    t: 'timems t unix unixtime timestamp opentime time datetime date timeutc dateutc closetime',
    o: 'open o openprice',
    h: 'high h highprice max',
    l: 'low l lowprice min',
    c: 'close c closeprice',
    v: 'volume v vol basevolume',
    q: `quotevolume quoteassetvolume ${QUOTE}`,
    symbol: 'symbol s pair ticker market coin instrument instid contract name productid',
    over: 'confirm complete isclosed',
  },
  checked: {
    q: 'volume times price',
    end: 'later than the open, by at most the timeframe',
    vwap: 'a price inside the bar',
    symbol: 'one instrument',
    over: 'true or false, whether the bar is over',
    text: 'the same time as t',
  },
  required: ['t', 'o', 'h', 'l', 'c'],
  formats: FORMATS,
  fits,
  matters: (name, cells) =>
    new Set(cells.filter(text => Number.isNaN(Number(text)) && Number.isNaN(parseForeignMoment(text, UTC))))
      .size > 1 ||
    /vol|qty|quant|amount|turnover|notional|price|open|high|low|close|last|bid|ask|settle|mark(?!et)|fair|mid/.test(
      name,
    ),
  mayBeLong: true,
  mayEndOpen: true,
}
