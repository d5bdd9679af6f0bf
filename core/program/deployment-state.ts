import { toEpochDay } from '#core/calendar.ts'
import type { ProgramData } from './program.ts'
import { isPausedOn } from './program-window.ts'

export const DEPLOYMENT_STATES = ['not_started', 'accumulating', 'paused', 'complete'] as const
type DeploymentState = (typeof DEPLOYMENT_STATES)[number]

/**
 * `not_started` before the first bar of the window has closed, `complete` once its last has, `paused` while the newest bar
 * lies in a paused span, else `accumulating`.
 */
export function deploymentState({ plan, bars, first, bars_planned }: ProgramData): DeploymentState {
  const happened = bars.t.length - first
  if (happened === 0) return 'not_started'
  if (happened >= bars_planned) return 'complete'
  return isPausedOn(plan.paused, toEpochDay(bars.t.at(-1)!)) ? 'paused' : 'accumulating'
}
