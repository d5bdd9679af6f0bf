import { z } from 'zod'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { costsShape, programShape, spanShape, windowShape } from './program-shape.ts'
import { DEFAULT_TIERS, readTiers } from './read-tiers.ts'
import { TIMEFRAME_MS, type Timeframe } from './timeframe.ts'
import { type Fields, mapSchema, soundEntries, soundFields } from './yaml-fields.ts'
import type { YamlFile } from './yaml-file.ts'

/** Ten years of hourly bars: a simulation over more of them is no answer to a request any more. */
const MAX_PLANNED_BARS = 100_000

/** `timeframe` is the plan's, as the book spells it. */
export type BookPlan = ProgramPlan & { readonly timeframe: Timeframe }

/** Reads the plan; `ids` are the strategies of the catalogue. Null where something is wrong; all of it is reported. */
export function readPlan(file: YamlFile, root: Fields, ids: readonly string[]): BookPlan | null {
  const head = soundFields(file, [], root, programShape(ids))
  const parts = partsSchema.parse(root)
  const window = parts.window && readWindow(file, parts.window)
  const tiers = root.tiers === undefined ? DEFAULT_TIERS : parts.tiers && readTiers(file, parts.tiers)
  const costs = parts.costs && soundFields(file, ['costs'], parts.costs, costsShape)
  const paused = readPaused(file, root.paused ?? [])
  if (head === null || window === null || tiers === null || costs === null || paused === null) return null
  return isShortEnough(file, head.timeframe, window) ? { ...head, window, tiers, costs, paused } : null
}

/** The parts that are maps; the shape of the file has said where one is none. */
const partsSchema = z.object({
  window: mapSchema.nullable().catch(null),
  tiers: mapSchema.nullable().catch(null),
  costs: mapSchema.nullable().catch(null),
})

function readWindow(file: YamlFile, record: Fields): ProgramPlan['window'] | null {
  const window = soundFields(file, ['window'], record, windowShape)
  if (window === null || window.to >= window.from) return window
  const { from, to } = window
  file.report(['window', 'to'], `expected a day on or after ${toIsoDate(from)}, got ${toIsoDate(to)}`)
  return null
}

function isShortEnough(file: YamlFile, timeframe: Timeframe, { from, to }: ProgramPlan['window']): boolean {
  const bars = ((to - from + 1) * DAY_MS) / TIMEFRAME_MS[timeframe]
  if (bars <= MAX_PLANNED_BARS) return true
  file.report(
    ['window', 'to'],
    `expected a window of at most ${MAX_PLANNED_BARS} bars, got ${bars} of ${timeframe}: take a longer timeframe`,
  )
  return false
}

function readPaused(file: YamlFile, value: unknown): ProgramPlan['paused'] | null {
  const spans = soundEntries(file, ['paused'], value, spanShape)
  if (spans === null) return null
  const faults = spans.map((span, i) => reportSpan(file, i, span, spans[i - 1]))
  return faults.includes(true) ? null : spans
}

type Span = ProgramPlan['paused'][number]

/** Whether a span ends before it begins, or does not begin after the one before; both are reported. */
function reportSpan(file: YamlFile, i: number, { from, to }: Span, before: Span | undefined): boolean {
  const isBackward = to !== null && to < from
  if (isBackward) {
    file.report(['paused', i, 'to'], `expected a day on or after ${toIsoDate(from)}, got ${toIsoDate(to)}`)
  }
  const follows = before === undefined || (before.to !== null && from > before.to)
  if (!follows) {
    const expected =
      before.to === null ? 'no span after one without an end' : `a day after ${toIsoDate(before.to)}`
    file.report(['paused', i, 'from'], `expected ${expected}, got ${toIsoDate(from)}`)
  }
  return isBackward || !follows
}
