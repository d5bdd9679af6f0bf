// Files as charting tools, backtesters and exchanges write them, all of one market: hourly bars that rise and fall.
const HOUR_MS = 3_600_000

/** The open of an hour, in a pattern that no other zone repeats; its close is the open of the next. */
export const openOf = (i: number): number => 100 + (((31 * i * i + 17 * i) % 23) % 8)

/** A bar: open, high, low, close. */
const pricesOf = (i: number): number[] => [openOf(i), openOf(i) + 8, openOf(i) - 8, openOf(i + 1)]

export const CAPITAL = 10_000
const LAST_PRICE = 103

/** By the hours of its fills; null while it is open. */
export type ForeignTrade = {
  readonly side: 'long' | 'short'
  readonly entry: number
  readonly exit: number | null
}

const TRADES: readonly ForeignTrade[] = [
  { side: 'long', entry: 40, exit: 43 },
  { side: 'short', entry: 43, exit: 54 },
  { side: 'long', entry: 63, exit: 64 },
  { side: 'long', entry: 109, exit: null },
]

/** What a trade earns with ten units at no cost. */
const profitOf = ({ side, entry, exit }: ForeignTrade): number =>
  10 * (side === 'long' ? 1 : -1) * ((exit === null ? LAST_PRICE : openOf(exit)) - openOf(entry))

/** Headers of the list of trades as they were over the years: time, price, size, profit, cumulative profit and its percent. */
export const GENERATIONS = {
  A: 'Trade #,Type,Date and time,Signal,Price USDT,Size (qty),Size (value),Net P&L USD,Net P&L %,Cumulative P&L USD,Cumulative P&L %',
  B: 'Trade #,Type,Date and time,Signal,Price USDT,Position size (qty),Position size (value),Net P&L USD,Net P&L %,Cumulative P&L USD,Cumulative P&L %',
  C: 'Trade number,Type,Date and time,Signal,Price USDT,Size (qty),Size (value),Net PnL USD,Net PnL %,Cumulative PnL USD,Cumulative PnL %',
  D: 'Trade number,Type,Date and time,Signal,Price USD,Size (qty),Size (value),Net PnL USD,Return %,Cumulative PnL USD,Cumulative PnL %',
  older: 'Trade #,Type,Date/Time,Signal,Price,Contracts,Value,Profit,Profit %,Cum. Profit,Cum. Profit %',
} as const

/** The files of a market whose first hour begins at an instant, epoch milliseconds. */
export function createForeignFiles(startMs: number) {
  const at = (i: number, zoneHours = 0): Date => new Date(startMs + (i + zoneHours) * HOUR_MS)
  const utc = (i: number): string => at(i).toISOString().replace('.000', '')
  /** A time of the chart, which is eight hours ahead of UTC. */
  const chartTime = (i: number): string => at(i, 8).toISOString().slice(0, 16).replace('T', ' ')

  return {
    utc,
    /** A table of the book. */
    bars: (hours: number): string =>
      [
        't,o,h,l,c,v',
        ...Array.from({ length: hours }, (_, i) => [utc(i), ...pricesOf(i), 1].join()),
        '',
      ].join('\n'),
    /** A file of Binance's archive, without a header; `perMs` is 1000 for microseconds. */
    binance: (from: number, hours: number, perMs: number): string =>
      Array.from({ length: hours }, (_, n) => {
        const opened = Number(at(from + n)) * perMs
        return `${[opened, ...pricesOf(from + n), 1, opened + HOUR_MS * perMs - 1, 100, 9, 0.5, 50, 0].join()}\n`
      }).join(''),
    /** A list of trades of TradingView. */
    listOfTrades(header: string = GENERATIONS.A, trades: readonly ForeignTrade[] = TRADES): string {
      let sum = 0
      const rows = trades.flatMap((trade, i) => {
        const profit = profitOf(trade)
        sum += profit
        const end = `10,${openOf(trade.entry) * 10},${profit},0.1,${sum},${((100 * sum) / CAPITAL).toFixed(2)}`
        const exit =
          trade.exit === null ? ['Open', 235, LAST_PRICE] : ['rule', trade.exit, openOf(trade.exit)]
        return [
          `${i + 1},Exit ${trade.side},${chartTime(Number(exit[1]))},${exit[0]},${exit[2]},${end}`,
          `${i + 1},Entry ${trade.side},${chartTime(trade.entry)},"in, at once",${openOf(trade.entry)},${end}`,
        ]
      })
      return `\ufeff${[header, ...rows].join('\n')}`
    },
    /** A result of freqtrade: fractions of a stake, both fees in the profit. */
    freqtrade: (more: object = {}, pairs: readonly string[] = ['X/USDT']) => ({
      metadata: {},
      strategy: {
        Sample: {
          trades: pairs.map((pair, i) => ({
            ...{ pair, stake_amount: 1000, amount: 10, fee_open: 0.001, fee_close: 0.001 },
            ...{ is_short: false, is_open: false, leverage: 1 },
            open_date: utc(40).replace('T', ' ').replace('Z', '+00:00'),
            ...{ open_rate: 102, open_timestamp: Number(at(40)) },
            close_date: utc(43).replace('T', ' ').replace('Z', '+00:00'),
            ...{ close_rate: 105, exit_reason: i === 0 ? 'roi' : 'force_exit' },
            ...{ profit_abs: 30 - 2.07, initial_stop_loss_abs: 91.8, orders: [{ amount: 10 }] },
          })),
          ...{ starting_balance: CAPITAL, total_trades: pairs.length },
          profit_total_abs: pairs.length * (30 - 2.07),
          daily_profit: [['2024-01-02', 1]],
          ...more,
        },
      },
      strategy_comparison: [{ key: 'Sample' }],
    }),
  }
}
