import type { Row } from '../table/rows.ts'
import { declare, type Format, isNamed, type Kind, reasonIn, toName } from './format.ts'

const NAME = '(a name that the tool or its user gave)'
const DERIVED = '(follows from the columns that are read)'
const EXTREME = '(a price between entry and exit)'
const SIZE = '(the value of the position)'
const NET = { results: 'after-costs' } as const

const FORMATS: readonly Format[] = [
  declare(
    'highwater',
    `side: side; entrytime: entry_time; entryprice: entry_price; exittime: exit_time; exitprice: exit_price
     exitreason?: exit_reason; leverage?: leverage; stop?: stop; accountreturn?: account_return; fees?: own_fees; funding?: own_funding
     part?: (the number of a part)`,
    NET,
  ),
  declare(
    'freqtrade',
    `|unnamed:0?: (the index of the table); pair: symbol; stakeamount: ${SIZE}; maxstakeamount?: ${SIZE}; amount: quantity
     opendate: entry_time; closedate: exit_time; openrate: entry_price; closerate: exit_price; feeopen?: fee; feeclose?: exit_fee
     tradeduration?: ${DERIVED}; profitratio?: ${DERIVED}; profitabs: pnl; exitreason|sellreason?: exit_reason; isopen: is_open
     initialstoplossabs?: stop; (?:initial)?stoploss(?:abs|ratio)*: (a stop that moved, or a ratio); (?:min|max)rate*: ${EXTREME}
     (?:open|close)timestamp*: (the same time as a number); isshort?: is_short; leverage?: (of the stake); entertag|buytag?: ${NAME}
     orders?: (the fills of the trade); fundingfees?: funding; exittag?: ${NAME}; weekday?: ${DERIVED}; key?: ${NAME}
     liquidationprice?: (the price of a liquidation)`,
    NET,
  ),
  declare(
    'backtesting.py',
    `size: quantity; entrybar: ${DERIVED}; exitbar: ${DERIVED}; entryprice: entry_price; exitprice: exit_price; sl?: last_stop; tp?: (the target)
     pnl: pnl; commission?: fees; returnpct?: ${DERIVED}; entrytime: entry_time; exittime: exit_time; duration?: ${DERIVED}; tag?: ${NAME}
     (?:entry|exit)(?!\\w*(?:fee|commission|cost|price|size))\\w+*: (an indicator)`,
    NET,
  ),
  declare(
    'vectorbt',
    `(?:exit|entry)?tradeid: ${NAME}; column?: symbol; size: quantity; entrytimestamp: entry_time; avgentryprice: entry_price
     entryfees: fees; exittimestamp: exit_time; avgexitprice: exit_price; exitfees: fees; pnl: pnl; return?: ${DERIVED}
     direction: side; status: is_open; positionid?: ${NAME}`,
    NET,
  ),
  declare(
    'backtrader',
    `ref?: ${NAME}; data?: symbol; size: quantity; entrydate: entry_time; entryprice: entry_price; exitdate: exit_time
     exitprice: exit_price; pnl: gross; pnlcomm: pnl`,
  ),
  declare(
    'ninjatrader',
    `tradenumber: ${NAME}; instrument: symbol; account: ${NAME}; strategy: ${NAME}; marketpos: side; qty: quantity
     entryprice: entry_price; exitprice: exit_price; entrytime: entry_time; exittime: exit_time; entryname: ${NAME}; exitname: ${NAME}
     profit: pnl; cumnetprofit: ${DERIVED}; commission: fees; mae|mfe|etd*: ${EXTREME}; bars?: ${DERIVED}`,
  ),
]

/** Columns of a plain table that change no figure: names, counts, and what follows from prices. */
const HARMLESS =
  /^(?:|unnamed:\d+|#|no|nr|index|id|\w*(?<!pa|b)id|ref|ticket|order(?:ids?|type|no|nr|number|s)?|(?:max)?(?:mae|mfe|etd)|(?:favorable|adverse)excursion.*|bars?(?:held|count)?|\w*duration\w*|comment|tag|\w*tag|name|strategy|account|note|iswin|drawdown|returnpct|profitratio|cum(?:ulative)?(?:net)?(?:profit|pnl|p&l|return)s?)$/

/** Columns of words that change what a row or an amount is. */
const MEANINGFUL = /status|state|isopen|currency|coin|asset|unit/

const isNumber = (text: string): boolean =>
  /^\D{0,5}?[-+\u2212]?[\d.,']*\d[\d.,']*(?:e[-+]?\d+)?\s*\D{0,5}$/i.test(text.trim())

/** Tables of trades, a row each. */
export const TRADES: Kind = {
  noun: 'trades',
  roles: {
    side: 'side direction marketpos',
    is_short: 'isshort',
    entry_time: 'entrytime opendate opentime entrydate entrytimestamp opentimestamp',
    entry_price: 'entryprice openrate openprice avgentryprice',
    exit_time: 'exittime closedate closetime exitdate exittimestamp closetimestamp',
    exit_price: 'exitprice closerate closeprice avgexitprice',
    exit_reason: 'exitreason sellreason reason',
    is_open: 'isopen',
    /** Signed, if there is neither side nor `is_short`. */
    quantity: 'size quantity qty amount contracts',
    /** In the currency of the account; the prices show whether before or after costs. */
    pnl: 'netpnl netprofit pnl profitabs profit',
    /** Of the whole trade, in money; several columns are added. */
    fees: '(?:entry|exit)?fees? commissions?',
    /** In money, received is positive; several columns are added. */
    funding: 'fundingfees? funding swap',
    /** The commission of a fill as a fraction. */
    fee: 'feeopen',
    leverage: 'leverage',
    stop: 'stop initialstoplossabs',
    /** A stop as it was at the end, which may have been moved. */
    last_stop: 'sl',
    account_return: 'accountreturn',
    symbol: 'pair symbol instrument ticker market',
  },
  checked: {
    gross: 'the result without costs',
    symbol: 'one instrument',
    exit_fee: 'the commission of the other fill',
  },
  required: ['entry_time', 'entry_price', 'exit_time', 'exit_price'],
  formats: FORMATS,
  fits: () => true,
  matters: (name, cells) => MEANINGFUL.test(name) || (!HARMLESS.test(name) && cells.some(isNumber)),
  looksLike(names) {
    const has = (pattern: RegExp): boolean => names.some(name => pattern.test(toName(name)))
    if (has(/^trade(?:nr|#|number)?$/) && has(/^typ/))
      return 'a list of trades of a charting tool in another language: set the language of the tool to English and export again'
    const isFill =
      has(/^(?:side|type|action|direction)$/) &&
      has(/^(?:avg|average|fill|exec)?price$/) &&
      has(/qty|quantity|amount|size|volume/)
    return isFill ? 'fills or orders: export the trades, with entry and exit in one row' : null
  },
}

/** A list of trades of TradingView: two rows a trade, the exit mostly first. Currencies end some names. */
const TRADINGVIEW = declare(
  'tradingview',
  `trade#|tradenumber: trade; type: type; dateandtime|date/time: time; signal: signal; price[a-z]{0,5}: price
   (?:position)?sizeqty|contracts: quantity; (?:position)?sizevalue|value?: ${SIZE}; netp(?:&|n)l[a-z]{2,5}|profit[a-z]{0,5}: pnl
   netp(?:&|n)l%|return%|profit%?: ${DERIVED}; commission[a-z]{0,5}?: fees; cumulativep(?:&|n)l[a-z]{2,5}|cumprofit[a-z]{0,5}?: cumulative
   cumulativep(?:&|n)l%|cumprofit%?: cumulative_pct; durationbars?: ${DERIVED}
   (?:favorable|adverse)excursion.*|run-?up.*|drawdown.*|mfe.*|mae.*|cumulativereturn.**: ${EXTREME}`,
  NET,
)

const read = TRADINGVIEW.columns.filter(({ use }) => reasonIn(use) === undefined)

/** A plain list of trades has the names of the tool, too. */
export const LIST_OF_TRADES: Kind = {
  ...TRADES,
  noun: 'the list of trades of a charting tool',
  roles: {
    ...Object.fromEntries(read.map(({ name, use }) => [use, name])),
    quantity: '(?:position)?sizeqty contracts quantity qty',
  },
  checked: { cumulative: 'the sum of the results', cumulative_pct: 'the sum as a part of the capital' },
  required: ['trade', 'type', 'time', 'price'],
  formats: [TRADINGVIEW],
  mayEndOpen: true,
}

/** Which of the two a file is: the list of a charting tool has the type of each row. */
export function tradesKind(rows: readonly Row[]): Kind {
  const { required, roles } = LIST_OF_TRADES
  const isList = (row: Row): boolean => required.every(role => row.some(name => isNamed(roles[role]!, name)))
  return rows.some(isList) ? LIST_OF_TRADES : TRADES
}
