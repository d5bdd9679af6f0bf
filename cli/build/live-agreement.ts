import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { type Bars, endOfBars, toBars } from '#core/replay/bars.ts'
import type { Book } from '#pipeline/book/book.ts'
import { formatProblem } from '#pipeline/book/problem.ts'
import { createStepper, type Stepper } from '#pipeline/live/stepper.ts'
import type { ModuleTask } from '#pipeline/modules/module-input.ts'
import { judgeLiveGap } from '#pipeline/report/data-report.ts'
import {
  compareLive,
  type FiredSignals,
  type LivePast,
  readFired,
  readLivePast,
} from '#signals/live/compare.ts'
import { type Gap, noteDivergence, parseGaps } from '#signals/live/live-record.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { tolerate } from '#storage/error-code.ts'
import type { BuildOrder } from '../options/build-options.ts'
import { openRedis } from '../outside/redis-url.ts'
import { type AlertWays, createAlertSender } from '../outside/send-alert.ts'
import type { Runtime } from '../runtime.ts'

/** One strategy that differs may differ on every bar since; the first ones show why. */
const FAULTS_SHOWN = 5

/** The strategies whose live signals were compared, and whether they differ; if there are none, why. */
export type LiveComparison = Awaited<ReturnType<typeof assertLiveAgrees>>

/**
 * Compares the live signals of every module of a book with a replay of its bars. If they differ, sends an alert and
 * throws an error with every difference, so that the version is not published: the published history must be what was
 * fired, unless bars came later and the catalogue accepts that. An unreachable Redis is a warning, because the history
 * must not depend on it.
 */
export async function assertLiveAgrees(
  book: Book,
  { settings, threads }: Pick<BuildOrder, 'settings' | 'threads'>,
  runtime: Runtime,
) {
  const none = (kind: 'note' | 'warning', why: string) => {
    runtime.terminal.note(`${kind}: live signals were not compared with the replay: ${why}`)
    return { strategies: [], not_compared: why }
  }
  const stepper = createStepper(book, { threads, elapsedMs: runtime.elapsed })
  let redis: Redis | null = null
  try {
    redis = await openRedis(settings).catch((error: unknown) => {
      throw new RedisDownError(error)
    })
    const found = await compareModules(redis, stepper, book, runtime)
    const refused = found.filter(({ faults }) => faults.length > 0)
    if (refused.length > 0) await refuse(refused, settings, runtime)
    if (found.length === 0) return none('note', 'Redis has no module of the book that ran in this version')
    return { strategies: found.map(({ id, diverges }) => ({ id, diverges })), not_compared: null }
  } catch (error) {
    if (!(error instanceof RedisDownError)) throw error
    return none('warning', error.message)
  } finally {
    redis?.disconnect()
    await stepper.close()
  }
}

async function compareModules(redis: Redis, stepper: Stepper, book: Book, { terminal }: Runtime) {
  const modules = book.strategies.filter(({ source, ended }) => source.kind === 'module' && ended === null)
  const read = await Promise.all(
    modules.map(async entry => {
      const funding = book.funding.get(entry.instrument) ?? null
      const { bars } = book.bars.get(entry.bars!)! // a module has bars, or the book would not be sound
      const own = { entry, funding, bars }
      const past = await readLivePast(redis, entry.id, await stepper.version(own))
      return past === null ? [] : [{ own, past }]
    }),
  )
  const ran = read.flat()
  const fired = await readFired(redis, new Map(ran.map(({ own, past }) => [own.entry.id, past])))
  return Promise.all(
    ran.map(async ({ own, past }) => {
      const { id } = own.entry
      const compared = await compareOne(own, past, fired.get(id)!, stepper, book) // requested above
      await tolerate(noteDivergence(redis, id, compared.says), 'the next build notes it')
      const untilMs = Math.min(past.cursorMs, endOfBars(own.bars))
      const outcome = compared.says === null ? 'equal' : 'differ from'
      terminal.note(`${id}: its live signals up to ${toIsoInstant(untilMs)} ${outcome} those of the replay`)
      return { id, diverges: compared.says !== null, faults: compared.faults.slice(0, FAULTS_SHOWN) }
    }),
  )
}

/** How the signals of a strategy differ, null if they do not, and what keeps the version from being published. */
async function compareOne(
  own: ModuleTask,
  past: LivePast,
  fired: FiredSignals,
  stepper: Stepper,
  book: Book,
) {
  const faultsOn = async (bars: Bars): Promise<readonly string[]> => {
    const { reports, days } = await stepper.replay(own, bars, past.fromMs)
    const { id: alias, base_risk_pct: baseRisk, tick_size: tickSize } = own.entry
    const sender = { alias, timeframeMs: bars.timeframeMs, baseRisk, tickSize }
    return compareLive(past, fired, { ...sender, reports, days, endMs: endOfBars(bars) })
  }
  const faults = await faultsOn(own.bars)
  const [first] = faults
  if (first === undefined) return { says: null, faults }
  const late = lateBars(parseGaps(past.record.gaps), own.bars)
  const opens = new Set(late)
  const { t, timeframeMs } = own.bars
  const withoutLate = toBars(timeframeMs, name => own.bars[name].filter((_, i) => !opens.has(t[i]!)))
  const isExplained = late.length > 0 && (await faultsOn(withoutLate)).length === 0
  if (!isExplained) return { says: first + REFUSED, faults }
  const problems = judgeLiveGap(own.entry, late, book)
  return problems.length === 0
    ? { says: `${first}. The catalogue accepts that`, faults: [] }
    : { says: first + REFUSED, faults: [first, ...problems.map(formatProblem)] }
}

const REFUSED =
  '. Nothing is published until they agree: halt it, and compare the bars that it traded on with those of the book'

/** When bars of the book opened that came after a strategy had decided without them. */
const lateBars = (gaps: readonly Gap[], { t, timeframeMs }: Bars): Float64Array =>
  t.filter(ms =>
    gaps.some(({ before_ms, missing }) => ms < before_ms && ms >= before_ms - missing * timeframeMs),
  )

async function refuse(
  found: Awaited<ReturnType<typeof compareModules>>,
  ways: AlertWays,
  runtime: Runtime,
): Promise<never> {
  const subject = found.map(({ id }) => id).join(', ')
  const message = `the live signals of ${subject} differ from the replay, and nothing was published: the build log has the differences`
  await createAlertSender(ways, runtime, runtime.terminal.note)({ kind: 'live_mismatch', subject, message })
  const faults = found.flatMap(each => each.faults)
  const remedy =
    'use the bars that were traded on (they are in the live folder), or raise the version of a strategy whose rules changed'
  throw new Error(
    ['live signals differ from the replay, and nothing was published:', ...faults, remedy].join('\n  '),
  )
}
