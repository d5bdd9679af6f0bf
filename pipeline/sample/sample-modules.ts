import type { TextFiles } from '../starter/new-folder.ts'

/**
 * The strategies that are code: the file and the factory of the reference strategy, and what the factory is told
 * beside the id.
 */
const MODULES = {
  alder: { file: 'donchian-breakout', factory: 'donchianBreakout', params: '' },
  birch: { file: 'dual-moving-average', factory: 'dualMovingAverage', params: '' },
  cedar: { file: 'rsi-reversion', factory: 'rsiReversion', params: '' },
  hazel: { file: 'volatility-breakout', factory: 'volatilityBreakout', params: '' },
  larch: { file: 'atr-trend', factory: 'atrTrend', params: '' },
  // Three months instead of one: over one month it does much the same as birch.
  maple: { file: 'time-series-momentum', factory: 'timeSeriesMomentum', params: ', lookbackBars: 540' },
} as const

/** The modules of the sample book as files. */
export const sampleModules = (): TextFiles =>
  Object.fromEntries(
    Object.entries(MODULES).map(([id, { file, factory, params }]) => [
      `strategies/${id}.ts`,
      `// Synthetic sample: a textbook rule, untuned, on a market that never was.
import { ${factory} } from './highwater/reference/${file}.ts'

export const strategy = ${factory}({ id: '${id}'${params} })
`,
    ]),
  )
