import type { TableKind } from '../table/columns.ts'
import type { Row } from '../table/rows.ts'

/** Trades, a row each: names of columns as patterns, without case, blanks and marks, preferred ones first. */
const TRADES: TableKind = {
  noun: 'trades',
  roles: {
    side: 'side direction',
    is_short: 'isshort',
    entry_time: 'entrytime opendate opentime entrydate entrytimestamp opentimestamp',
    entry_price: 'entryprice openrate openprice',
    exit_time: 'exittime closedate closetime exitdate exittimestamp closetimestamp',
    exit_price: 'exitprice closerate closeprice',
    exit_reason: 'exitreason sellreason reason',
    is_open: 'isopen',
    /** Signed, if there is neither side nor `is_short`. */
    quantity: 'size quantity qty amount contracts',
    /** Net of commissions, in the currency of the account. */
    pnl: 'pnl netpnl profitabs netprofit',
    commission: 'commission fees',
    /** The commission of one side as a fraction. */
    fee: 'feeopen',
    leverage: 'leverage',
    stop: 'stop initialstoplossabs',
    /** A stop as it was at the end, which may have been moved. */
    last_stop: 'sl',
    account_return: 'accountreturn',
    symbol: 'pair symbol instrument ticker',
  },
  required: ['entry_time', 'entry_price', 'exit_time', 'exit_price'],
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
    trade: 'trade# tradenumber',
    type: 'type',
    time: 'dateandtime date/time',
    price: 'price[a-z]{0,5}',
    signal: 'signal',
    quantity: '(?:position)?sizeqty contracts quantity qty',
    pnl: 'netp(?:&|n)l[a-z]{2,5} profit[a-z]{2,5} profit',
    commission: 'commission[a-z]{0,5}',
    cumulative: 'cumulativep(?:&|n)l[a-z]{2,5} cum\\.?profit[a-z]{0,5}',
    cumulative_pct: 'cumulativep(?:&|n)l% cum\\.?profit%',
  },
  required: ['trade', 'type', 'time', 'price'],
  formats: [['tradingview', /^trade(?:#|number),type,/]],
  orders: [],
  leastNumbers: 2,
  mayEndOpen: true,
}

/** Which of the two a file is, by its first rows. */
export const tradesKind = (rows: readonly Row[]): TableKind =>
  rows.some(([first = '']) => /^trade (?:#|number)$/i.test(first.trim())) ? LIST_OF_TRADES : TRADES
