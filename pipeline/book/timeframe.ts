/** The timeframes that bars come in, and their lengths in milliseconds. */
export const TIMEFRAME_MS = {
  '1m': 60_000,
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '4h': 14_400_000,
  '1d': 86_400_000,
} as const

export type Timeframe = keyof typeof TIMEFRAME_MS

export const TIMEFRAMES = ['1m', '5m', '15m', '1h', '4h', '1d'] as const satisfies readonly Timeframe[]
