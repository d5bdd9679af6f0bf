import type { TableKind } from '../table/columns.ts'
import type { Row } from '../table/rows.ts'

/** Trades, a row each: names of columns as patterns, without case, blanks and marks, preferred ones first. */
const TRADES: TableKind = {
  noun: 'trades',
  roles: {
    side: { names: 'side direction' },
    is_short: { names: 'isshort' },
    entry_time: {
      names: 'entrytime opendate opentime entrydate entrytimestamp opentimestamp',
      required: true,
    },
    entry_price: { names: 'entryprice openrate openprice', required: true },
    exit_time: {
      names: 'exittime closedate closetime exitdate exittimestamp closetimestamp',
      required: true,
    },
    exit_price: { names: 'exitprice closerate closeprice', required: true },
    exit_reason: { names: 'exitreason sellreason reason' },
    is_open: { names: 'isopen' },
    /** Signed, if there is neither side nor `is_short`. */
    quantity: { names: 'size quantity qty amount contracts' },
    /** Net of commissions, in the currency of the account. */
    pnl: { names: 'pnl netpnl profitabs netprofit' },
    commission: { names: 'commission fees' },
    /** The commission of one side as a fraction. */
    fee: { names: 'feeopen' },
    leverage: { names: 'leverage' },
    stop: { names: 'stop initialstoplossabs' },
    /** A stop as it was at the end, which may have been moved. */
    last_stop: { names: 'sl' },
    account_return: { names: 'accountreturn' },
    symbol: { names: 'pair symbol instrument ticker' },
  },
  formats: [
    ['highwater', /^side,entrytime,entryprice,exittime,exitprice,exitreason/],
    ['backtesting.py', /^size,entrybar,exitbar,entryprice,exitprice/],
    ['freqtrade', /^pair,stakeamount,/],
  ],
  orders: [],
  leastNumbers: 2,
}

/** A list of trades of TradingView: two rows a trade, the exit mostly first. Currencies end some names. */
export const LIST_OF_TRADES: TableKind = {
  noun: 'the list of trades of a charting tool',
  roles: {
    trade: { names: 'trade# tradenumber', required: true },
    type: { names: 'type', required: true },
    time: { names: 'dateandtime date/time', required: true },
    price: { names: 'price[a-z]{0,5}', required: true },
    signal: { names: 'signal' },
    quantity: { names: '(?:position)?sizeqty contracts quantity qty' },
    pnl: { names: 'netp(?:&|n)l[a-z]{2,5} profit[a-z]{2,5} profit' },
    commission: { names: 'commission[a-z]{0,5}' },
    cumulative: { names: 'cumulativep(?:&|n)l[a-z]{2,5} cum\\.?profit[a-z]{0,5}' },
    cumulative_pct: { names: 'cumulativep(?:&|n)l% cum\\.?profit%' },
  },
  formats: [['tradingview', /^trade(?:#|number),type,/]],
  orders: [],
  leastNumbers: 2,
  mayEndOpen: true,
}

/** The type of a row in it. */
export const ROW_TYPE = /^(entry|exit) (long|short)$/i

/** Which of the two a file is, by its first rows. */
export const tradesKind = (rows: readonly Row[]): TableKind =>
  rows.some(([first = '']) => /^trade (?:#|number)$/i.test(first.trim())) ? LIST_OF_TRADES : TRADES

export const isListOfTrades = (kind: TableKind): boolean => kind === LIST_OF_TRADES
