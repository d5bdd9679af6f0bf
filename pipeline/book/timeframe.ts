/** The timeframes that bars come in, and their lengths in milliseconds: parts of a day, so that none straddles midnight. */
export const TIMEFRAME_MS = {
  '1m': 60_000,
  '3m': 180_000,
  '5m': 300_000,
  '15m': 900_000,
  '30m': 1_800_000,
  '1h': 3_600_000,
  '2h': 7_200_000,
  '4h': 14_400_000,
  '6h': 21_600_000,
  '8h': 28_800_000,
  '12h': 43_200_000,
  '1d': 86_400_000,
} as const

export type Timeframe = keyof typeof TIMEFRAME_MS

/** Shortest first. The keys of the table above are its timeframes. */
export const TIMEFRAMES = Object.keys(TIMEFRAME_MS) as [Timeframe, ...Timeframe[]]

/** Older data mean that a feed has stopped: a nightly book is at most a day and a few hours behind. */
export const STALE_MS = 36 * 3_600_000
