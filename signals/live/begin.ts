import { toIsoInstant } from '#core/calendar.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { commit } from '../log/commit.ts'
import type { KnownBars } from './known-bars.ts'
import { cursorOf, readStanding, recordFields, type Standing } from './live-record.ts'
import type { LiveStrategy } from './live-strategy.ts'
import { type LiveWorld, toNew } from './run-bar.ts'
import { signalId } from './signals-of.ts'

/**
 * Where a strategy goes on: at its checkpoint, or, at its first start and with a new version of its rules, at the end of
 * a replay of all known bars, which emits nothing. So nobody is told of a position that was entered before.
 *
 * A new version is a new history: it is `DRY_RUN` until the operator says otherwise, and a position that the version
 * before had announced is closed by a `flat`, because nothing would ever close it.
 */
export async function begin(world: LiveWorld, strategy: LiveStrategy, known: KnownBars): Promise<Standing> {
  const { alias, version } = strategy
  const there = await readStanding(world.redis, alias)
  if (there?.version === version) return there
  if (known.last() === null)
    throw new Error(`${alias}: there are no bars to begin with; bring at least a day of them`)
  const state = await strategy.replay(known.columns())
  const next: Standing = { cursor: cursorOf(state, strategy), version, state, announced: null }
  assertForward(alias, there, next)
  await world.assertClock()
  const outcome = await commit(world.redis, closing(strategy, there, next).map(toNew), world.now(), {
    alias,
    from: there?.cursor ?? '',
    to: next.cursor,
    fields: {
      ...recordFields(next),
      live_from: next.cursor,
      ...(there === null ? {} : { mode: 'DRY_RUN' }),
    },
  })
  if (outcome.kind === 'moved') return begin(world, strategy, known) // another runner began it meanwhile
  world.note(describe(strategy, there, next))
  return next
}

function assertForward(alias: string, there: Standing | null, next: Standing): void {
  if (there === null || Number(there.cursor) <= Number(next.cursor)) return
  throw new Error(
    `${alias}: it was live until ${toIsoInstant(Number(there.cursor))} and the bars end at ` +
      `${toIsoInstant(Number(next.cursor))}: bring the bars up to there, or name the folder with the live bars`,
  )
}

/** The `flat` of what the version before announced; its id names the new version, because the bar may have had a flat. */
function closing(strategy: LiveStrategy, there: Standing | null, { cursor, state, version }: Standing) {
  const announced = there?.announced ?? null
  if (announced === null) return []
  const flat: SignalContent = {
    signal_id: signalId(strategy.alias, Number(cursor), 'flat', `version ${version}`),
    alias: strategy.alias,
    mode: announced.mode,
    is_test: false,
    action: 'flat',
    signal_price: state.last_close,
    stop: announced.stop,
    base_risk_pct: 0,
    timestamp: toIsoInstant(Number(cursor)),
    implied_leverage: 0,
  }
  return [flat]
}

function describe({ alias, version }: LiveStrategy, there: Standing | null, { cursor }: Standing): string {
  const when = `live from ${toIsoInstant(Number(cursor))} on`
  return there === null
    ? `${alias}: ${when}, with nothing announced; it is DRY_RUN until the operator says otherwise`
    : `${alias}: version ${version} instead of ${there.version} is ${when}; what was announced is closed, and it is ` +
        'DRY_RUN until the operator says otherwise'
}
