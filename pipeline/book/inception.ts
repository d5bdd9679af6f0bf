import { type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { lastDay } from '#core/figures/series.ts'
import { firstCompleteDay } from '#core/replay/daily.ts'
import type { SoundParts, StrategyEntry } from './book.ts'

/**
 * Why the series of a strategy cannot begin on its inception, or null where it can: on a day that its bars cover from
 * midnight on, or that its returns report. Null too where the bars are not known.
 */
export function explainInception(entry: StrategyEntry, bars: SoundParts['bars']): string | null {
  const { inception } = entry
  const covered = coveredDays(entry, bars)
  if (inception === null || covered === null) return null
  const { first, last, path } = covered
  if (inception >= first && inception <= last) return null
  const days = first <= last ? `${toIsoDate(first)} to ${toIsoDate(last)}` : 'of which there is none'
  return `expected a day that ${path} covers whole, ${days}, got ${toIsoDate(inception)}`
}

type Covered = { readonly first: EpochDay; readonly last: EpochDay; readonly path: string }

function coveredDays({ id, source, bars: key }: StrategyEntry, bars: SoundParts['bars']): Covered | null {
  if (source.kind === 'returns')
    return { first: source.daily.first, last: lastDay(source.daily), path: `returns/${id}.csv` }
  const file = key === null ? undefined : bars.get(key)
  if (file === undefined) return null
  return { first: firstCompleteDay(file.bars), last: toEpochDay(file.bars.t.at(-1)!), path: file.path }
}
