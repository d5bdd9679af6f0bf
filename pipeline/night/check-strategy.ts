import { basename } from 'node:path'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { VerificationState } from '#core/contract/payloads/strategy.ts'
import { endOfBars } from '#core/replay/bars.ts'
import {
  checkCheckpoints,
  checkDeterminism,
  checkPrefixes,
  findStartAgreement,
} from '#core/replay/invariance.ts'
import { PROGRESS_BARS } from '#core/replay/replay.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import type { Problem } from '../book/problem.ts'
import { type BarsTask, type HistoryTask, makeHistory, replayInput } from './histories.ts'
import { describeMismatch, importStrategy } from './load-strategy.ts'

/** What a check finds out about one strategy. */
export type StrategyCheck = {
  readonly kind: 'checked'
  /** Null if its history cannot be made. */
  readonly history: {
    readonly days: number
    readonly trades: number
    readonly verification: VerificationState
  } | null
  readonly problems: readonly Problem[]
  readonly notices: readonly string[]
}

/** Makes the history of a strategy, as a build does, and checks a module for hidden dependencies. */
export async function checkStrategy(task: HistoryTask): Promise<StrategyCheck> {
  const { source } = task.entry
  const { bars } = task
  // First, because a memory between replays shows in the first two.
  const laws =
    source.kind === 'module' && bars !== null ? await checkLaws({ ...task, bars }, source.path) : LAWFUL
  const outcome = await makeHistory(task)
  if ('problems' in outcome) {
    return { ...laws, kind: 'checked', history: null, problems: [...outcome.problems, ...laws.problems] }
  }
  const { daily, trades, verification, notices } = outcome.history
  return {
    kind: 'checked',
    history: { days: daily.values.length, trades: trades.length, verification },
    problems: laws.problems,
    notices: [...notices, ...laws.notices],
  }
}

type Laws = Pick<StrategyCheck, 'problems' | 'notices'>

const LAWFUL: Laws = { problems: [], notices: [] }

/** Prefixes of the bars that are replayed again, evenly spaced. */
const PREFIXES = 12

/** Times that the state goes through JSON: at every bar it would cost more than the replay. */
const CHECKPOINTS = 500

/** Shorter halves say nothing about the start. */
const SHORTEST_HALF_MS = 7 * DAY_MS

async function checkLaws(task: BarsTask, path: string): Promise<Laws> {
  const { entry, bars, pulse } = task
  const strategy = await importStrategy(path)
  if (describeMismatch(strategy, entry).length > 0) return LAWFUL // reported with the history
  const input = replayInput(task, beating(strategy, pulse))
  const every = Math.ceil(bars.t.length / CHECKPOINTS)
  const laws = [
    [
      'two replays of the same bars differ',
      checkDeterminism(input),
      'keep all memory in the state, and use no clock',
    ],
    [
      'its past depends on later bars',
      checkPrefixes(input, PREFIXES),
      'decide from the bar and the state alone',
    ],
    ['its state does not survive JSON', checkCheckpoints(input, every), 'keep plain values alone in it'],
  ] as const
  const middle = bars.t.length >> 1
  const isLong = endOfBars(bars) - bars.t[middle]! >= SHORTEST_HALF_MS
  const forgets = !isLong || findStartAgreement(input, middle) !== null
  return {
    problems: laws.flatMap(([what, difference, fix]) =>
      difference === null
        ? []
        : [{ file: `strategies/${basename(path)}`, message: `${what}: ${difference}; ${fix}` }],
    ),
    notices: forgets
      ? []
      : [
          `${entry.id}: a replay that begins at ${toIsoInstant(bars.t[middle]!)} never decides as the whole one does: ` +
            'its history depends on where the bars begin',
        ],
  }
}

/** The same strategy, which beats the pulse: not every law reports its progress. */
function beating(strategy: Strategy, pulse: Int32Array): Strategy {
  let bars = 0
  return {
    ...strategy,
    init: () => strategy.init(),
    onBar(state, bar, position) {
      if (bars++ % PROGRESS_BARS === 0) Atomics.add(pulse, 0, 1)
      return strategy.onBar(state, bar, position)
    },
  }
}
