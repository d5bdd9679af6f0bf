import type { TableKind } from '../table/columns.ts'
import { parseDecimal } from './cell.ts'

/** Tables of bars: names of columns as patterns, without case, blanks and marks, preferred ones first. `q` is the quote volume. */
export const BARS_TABLE: TableKind = {
  noun: 'bars',
  roles: {
    t: 'timems t unix unixtime timestamp opentime time datetime date timeutc dateutc',
    o: 'open o openprice',
    h: 'high h highprice max',
    l: 'low l lowprice min',
    c: 'close c closeprice',
    v: 'volume v vol basevolume volume(?!usd|eur|gbp|busd|try|jpy|krw)[a-z]{2,5}',
    q: 'quotevolume quoteassetvolume turnover volume(?:usdt|usdc|usd|eur|gbp|busd|try|jpy|krw)',
    symbol: 'symbol s pair ticker market coin',
    /** Whether the bar is over. */
    over: 'confirm complete isclosed',
  },
  required: ['t', 'o', 'h', 'l', 'c'],
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
    ['okx', 't o h l c v - q over'],
    ['kraken', 't o h l c v -'],
    ['ccxt/freqtrade/bitvavo', 't o h l c v'],
    ['coinbase', 't l h o c v'],
  ],
  fits: field => {
    const price = (role: string): number => parseDecimal(field(role).trim())
    const [o, c] = [price('o'), price('c')]
    return price('l') <= Math.min(o, c) && price('h') >= Math.max(o, c)
  },
  leastNumbers: 4,
  mayEndOpen: true,
}
