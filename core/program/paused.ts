import { type EpochDay, toEpochDay } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { ProgramPlan } from './program.ts'

type Spans = ProgramPlan['paused']

/** Whether the operator has paused the program on this day; a bar belongs to the UTC day of its open. */
export const isPausedOn = (spans: Spans, day: EpochDay): boolean =>
  spans.some(({ from, to }) => from <= day && (to === null || day <= to))

/** For each bar from `first` on: 1 where the program is paused, 0 elsewhere. */
export function pausedBars(spans: Spans, { t }: Bars, first: number): Uint8Array {
  const paused = new Uint8Array(t.length - first)
  if (spans.length === 0) return paused
  for (let i = 0; i < paused.length; i++) paused[i] = isPausedOn(spans, toEpochDay(t[first + i]!)) ? 1 : 0
  return paused
}
