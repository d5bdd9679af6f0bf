import { pathToFileURL } from 'node:url'
import type { Strategy } from '#core/replay/strategy.ts'
import type { StrategyEntry } from '../book/book.ts'
import { TIMEFRAME_MS } from '../book/timeframe.ts'

/** Imports a strategy module. Throws its own errors, and an error if it does not export a strategy. */
export async function importStrategy(path: string): Promise<Strategy> {
  const module: { strategy?: Strategy } = await import(pathToFileURL(path).href)
  if (typeof module.strategy?.onBar === 'function' && typeof module.strategy.init === 'function')
    return module.strategy
  throw new Error(
    'a strategy module exports `strategy`, an object with init() and onBar(); this one does not',
  )
}

/** The differences between the catalogue and the module, which both describe the strategy. */
export function describeMismatch(strategy: Strategy, entry: StrategyEntry): string[] {
  const timeframeMs = entry.timeframe === null ? null : TIMEFRAME_MS[entry.timeframe]
  const pairs = [
    ['id', strategy.id, entry.id],
    ['timeframeMs', strategy.timeframeMs, timeframeMs],
    ['baseRisk', strategy.baseRisk, entry.base_risk_pct],
  ] as const
  return pairs
    .filter(([, inModule, inCatalogue]) => inModule !== inCatalogue)
    .map(
      ([name, inModule, inCatalogue]) =>
        `${name}: ${inCatalogue} in the catalogue, ${inModule} in the module`,
    )
}

/** Imports a module that agrees with its catalogue. Throws an error with every difference. */
export async function loadStrategy(entry: StrategyEntry, path: string): Promise<Strategy> {
  const strategy = await importStrategy(path)
  const faults = describeMismatch(strategy, entry)
  if (faults.length > 0) throw new Error(`${entry.id}: ${faults.join('; ')}`)
  return strategy
}
