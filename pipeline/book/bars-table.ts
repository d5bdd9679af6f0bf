import type { TableKind } from '../table/columns.ts'
import { parseDecimal } from './cell.ts'

const number = (text: string): number => parseDecimal(text.trim())

/** Tables of bars: names of columns as patterns, without case, blanks and marks, preferred ones first. `q` is the quote volume. */
export const BARS_TABLE: TableKind = {
  noun: 'bars',
  roles: {
    t: {
      names: 'timems t unix unixtime timestamp opentime time datetime date timeutc dateutc',
      required: true,
    },
    o: { names: 'open o openprice', required: true },
    h: { names: 'high h highprice max', required: true },
    l: { names: 'low l lowprice min', required: true },
    c: { names: 'close c closeprice', required: true },
    v: { names: 'volume v vol basevolume volume(?!usd|eur|gbp|busd|try|jpy|krw)[a-z]{2,5}' },
    q: {
      names: 'quotevolume quoteassetvolume turnover volume(?:usdt|usdc|usd|eur|gbp|busd|try|jpy|krw)',
    },
    symbol: { names: 'symbol s pair ticker market coin' },
  },
  formats: [
    ['highwater', /^t,o,h,l,c,v$/],
    ['cryptodatadownload', /^(?:unix,)?date,symbol,/],
    ['binance', /^opentime,open,high,low,close,volume,closetime/],
    ['hyperliquid', /^t,T,s,i,/],
    ['coinbase', /^(?:time|timestamp),low,high,open,close/],
    ['kraken', /^(?:time|timestamp),open,high,low,close,(?:vwap,)?volume,(?:trades|count)/],
    ['yfinance', /^price,(?:adjclose,)?close,high,low,open,volume/],
    ['yahoo/freqtrade', /^date,open,high,low,close,(?:adjclose,)?volume$/],
    ['tradingview-chart', /^time,open,high,low,close(?:,|$)/],
    ['bitvavo', /^datetime,open,high,low,close,volume$/],
    ['bitstamp/ccxt', /^(?:timestamp,open,high,low,close,volume|close,high,low,open,timestamp,volume)$/],
    ['epochs-and-dates', /^timems,timeutc,open,high,low,close/],
  ],
  orders: [
    ['binance', 't o h l c v - q - - - -'],
    ['kraken-api', 't o h l c - v -'],
    ['kraken', 't o h l c v -'],
    ['ccxt/freqtrade/bitvavo', 't o h l c v'],
    ['coinbase', 't l h o c v'],
  ],
  fits: field => {
    const [o, h, l, c] = [
      number(field('o')),
      number(field('h')),
      number(field('l')),
      number(field('c')),
    ] as const
    return l <= Math.min(o, c) && h >= Math.max(o, c)
  },
  leastNumbers: 4,
  mayEndOpen: true,
}
