import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { endOfBars } from '#core/replay/bars.ts'
import type { Book, StrategyEntry } from '#pipeline/book/book.ts'
import { createStepper, type Stepper } from '#pipeline/live/stepper.ts'
import { compareLive, type LivePast, type Replayed, readFired, readLivePast } from '#signals/live/compare.ts'
import { noteDivergence } from '#signals/live/control.ts'
import { connectRedis, RedisDownError } from '#signals/redis/connect.ts'
import type { Runtime } from './runtime.ts'
import { type AlertWays, createAlertSender } from './send-alert.ts'
import type { Terminal } from './terminal.ts'

/** One strategy that differs may differ on every bar since; the first ones show why. */
const FAULTS_SHOWN = 5

/**
 * Compares the live signals of every module of a book with a replay of its bars. If they differ, sends an alert and
 * throws an error with every difference, so that the version is not published: the published history must be what was
 * fired. An unreachable Redis is a warning, because the history must not depend on it.
 */
export async function assertLiveAgrees(
  book: Book,
  redisUrl: string,
  { threads, alertWays }: { readonly threads: number; readonly alertWays: AlertWays },
  runtime: Runtime,
): Promise<void> {
  const { terminal } = runtime
  const modules = book.strategies.filter(({ source, ended }) => source.kind === 'module' && ended === null)
  if (modules.length === 0) return
  const redis = connectRedis(redisUrl, () => {}) // every command reports its own error
  const stepper = createStepper(book, { threads, elapsedMs: runtime.elapsed })
  try {
    await redis.connect().catch((error: unknown) => {
      throw new RedisDownError(error)
    })
    const found = await compareModules(redis, stepper, book, modules, terminal)
    await refuse(
      found.filter(({ faults }) => faults.length > 0),
      alertWays,
      runtime,
    )
  } catch (error) {
    if (!(error instanceof RedisDownError)) throw error
    terminal.note(`warning: live signals were not compared with the replay: ${error.message}`)
  } finally {
    redis.disconnect()
    await stepper.close()
  }
}

async function compareModules(
  redis: Redis,
  stepper: Stepper,
  book: Book,
  modules: readonly StrategyEntry[],
  terminal: Terminal,
): Promise<readonly { readonly alias: string; readonly faults: readonly string[] }[]> {
  const read = await Promise.all(
    modules.map(async entry => {
      const past = await readLivePast(redis, entry.id, await stepper.version(ownOf(book, entry)))
      return past === null ? [] : [{ entry, past }]
    }),
  )
  const ran = read.flat()
  const fired = await readFired(redis, new Map(ran.map(({ entry, past }) => [entry.id, past])))
  return Promise.all(
    ran.map(async ({ entry, past }) => {
      const replayed = await replay(stepper, book, entry, past)
      const faults = compareLive(past, fired.get(entry.id)!, replayed) // requested above
      await noteDivergence(redis, entry.id, faults[0] ?? null)
      return { alias: entry.id, faults: report(past, faults, replayed, terminal) }
    }),
  )
}

const ownOf = (book: Book, entry: StrategyEntry) => ({
  entry,
  funding: book.funding.get(entry.instrument) ?? null,
  bars: book.bars.get(entry.bars!)!.bars, // a module has bars, or the book would not be sound
})

async function replay(
  stepper: Stepper,
  book: Book,
  entry: StrategyEntry,
  { fromMs }: LivePast,
): Promise<Replayed> {
  const own = ownOf(book, entry)
  const { bars } = own
  const { reports, days } = await stepper.replay(own, bars, fromMs)
  const sender = {
    alias: entry.id,
    timeframeMs: bars.timeframeMs,
    baseRisk: entry.base_risk_pct,
    tickSize: entry.tick_size,
  }
  return { ...sender, reports, days, endMs: endOfBars(bars) }
}

/** The first faults of a strategy, or a line that it has none. */
function report(
  { cursorMs }: LivePast,
  faults: readonly string[],
  { alias, endMs }: Replayed,
  { note }: Terminal,
): readonly string[] {
  if (faults.length === 0)
    note(
      `${alias}: its live signals up to ${toIsoInstant(Math.min(cursorMs, endMs))} equal those of the replay`,
    )
  return faults.slice(0, FAULTS_SHOWN)
}

const REMEDY =
  'use the bars that were traded on (they are in the live folder), or raise the version of a strategy whose rules changed'

async function refuse(found: Awaited<ReturnType<typeof compareModules>>, ways: AlertWays, runtime: Runtime) {
  if (found.length === 0) return
  const subject = found.map(({ alias }) => alias).join(', ')
  const send = createAlertSender(ways, runtime, runtime.terminal.note)
  await send({
    kind: 'live_mismatch',
    subject,
    message: `the live signals of ${subject} differ from the replay, and nothing was published: the build log has the differences`,
  })
  const faults = found.flatMap(each => each.faults)
  throw new Error(
    ['live signals differ from the replay, and nothing was published:', ...faults, REMEDY].join('\n  '),
  )
}
