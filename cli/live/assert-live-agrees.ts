import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { endOfBars } from '#core/replay/bars.ts'
import type { Book, StrategyEntry } from '#pipeline/book/book.ts'
import { createStepper, type Stepper, type StepperOptions } from '#pipeline/live/stepper.ts'
import { compareLive, readLivePast } from '#signals/live/compare.ts'
import { connectRedis, RedisDownError } from '#signals/redis/connect.ts'
import type { Terminal } from '../terminal.ts'

/** One strategy that differs may differ on every bar since; the first ones show why. */
const TOLD_A_STRATEGY = 5

/** The live signals of some strategies are not those of the replay. */
export class LiveMismatchError extends Error {
  readonly aliases: readonly string[]

  constructor(aliases: readonly string[], faults: readonly string[]) {
    const mend =
      'bring the bars that were traded on (the live folder has them), or raise the version of a strategy whose rules changed'
    super(['live signals differ from the replay, and nothing is published:', ...faults, mend].join('\n  '))
    this.name = 'LiveMismatchError'
    this.aliases = aliases
  }
}

/**
 * Holds the live signals of every module of a book against a replay of its bars. Throws a LiveMismatchError with every difference, so that
 * the version is not published: what is shown as history must be what was fired. An unreachable Redis is a warning,
 * because the history must not depend on it.
 */
export async function assertLiveAgrees(
  book: Book,
  redisUrl: string,
  { threads, elapsedMs }: Pick<StepperOptions, 'threads' | 'elapsedMs'>,
  terminal: Terminal,
): Promise<void> {
  const modules = book.strategies.filter(({ source }) => source.kind === 'module')
  if (modules.length === 0) return
  const redis = connectRedis(redisUrl, () => {}) // each command tells its own error
  const stepper = createStepper({ threads, elapsedMs, note: terminal.note })
  try {
    await redis.connect().catch((error: unknown) => {
      throw new RedisDownError(error)
    })
    const found = await Promise.all(
      modules.map(async entry => {
        const faults = await compareEntry(redis, stepper, book, entry, terminal)
        return { alias: entry.id, faults }
      }),
    )
    refuse(found.filter(({ faults }) => faults.length > 0))
  } catch (error) {
    if (!(error instanceof RedisDownError)) throw error
    terminal.note(`warning: live signals were not held against the replay: ${error.message}`)
  } finally {
    redis.disconnect()
    await stepper.close()
  }
}

async function compareEntry(
  redis: Redis,
  stepper: Stepper,
  book: Book,
  entry: StrategyEntry,
  terminal: Terminal,
): Promise<readonly string[]> {
  const own = { entry, funding: book.funding.get(entry.instrument) ?? null }
  const past = await readLivePast(redis, entry.id, await stepper.version(own))
  if (past === null) return []
  const { bars } = book.bars.get(entry.bars!)! // a module has bars, or the book would not be sound
  const { reports, days } = await stepper.replay({ ...own, bars, reportFromMs: past.fromMs })
  const sender = { alias: entry.id, timeframeMs: bars.timeframeMs, baseRisk: entry.base_risk_pct }
  const faults = await compareLive(redis, past, { ...sender, reports, days, endMs: endOfBars(bars) })
  if (faults.length === 0) {
    const until = toIsoInstant(Math.min(past.cursorMs, endOfBars(bars)))
    terminal.note(`${entry.id}: its live signals up to ${until} are those of the replay`)
  }
  return faults.slice(0, TOLD_A_STRATEGY)
}

function refuse(found: readonly { readonly alias: string; readonly faults: readonly string[] }[]): void {
  if (found.length === 0) return
  throw new LiveMismatchError(
    found.map(({ alias }) => alias),
    found.flatMap(({ faults }) => faults),
  )
}
