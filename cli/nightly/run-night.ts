// A night as one command: import, build and publish, verify, purge; then the report, the alert and the ping.
import { toIsoInstant } from '#core/calendar.ts'
import { audit } from '#static-build/audit/audit.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import { openStore } from '#storage/open-store.ts'
import { type BuildSummary, toSummary } from '../build-summary.ts'
import { type BuildOrder, buildVersion } from '../build-version.ts'
import { followPointer } from '../follow-pointer.ts'
import { withStoreLock } from '../store-lock.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Terminal } from '../terminal.ts'
import { assertSound } from '../verify-report.ts'
import { importData } from './import-data.ts'
import { createPing, type Ping } from './ping.ts'
import { keepReport, type NightReport, type Step, type StepName, toReport } from './report.ts'
import { createNightAlerts } from './tell-failure.ts'

export type NightOrder = {
  readonly build: BuildOrder
  /** Whether somebody said where the snapshots lie. */
  readonly isPrivateNamed: boolean
  readonly importCommand: string | null
  readonly pingUrl: string | null
}

/** The report, and why the night failed; null where it did not. */
export type Night = { readonly report: NightReport; readonly error: unknown }

/**
 * Runs a night to its end, whatever that is, and tells whoever waits for it. Rejects where another one runs: that one tells.
 * A night that is run again publishes one more version of the same data.
 */
export async function runNight(
  order: NightOrder,
  surroundings: Surroundings,
  terminal: Terminal,
): Promise<Night> {
  const { build, pingUrl } = order
  const store = await openStore(build.storeUrl, build.s3)
  const ping = createPing(pingUrl, surroundings.pause, terminal.note)
  const run = async (): Promise<Night> => {
    await ping('start', '')
    const night = await walk(order, surroundings, terminal)
    await keepReport(night.report, build, terminal)
    await tell(night.report, order, surroundings, terminal, ping)
    return night
  }
  // A lock of its own: an import must not run beside another, and the build takes the one of the pointer itself.
  return withStoreLock(store, surroundings, terminal, run, 'night')
}

/** The steps, up to the first that fails. */
async function walk(order: NightOrder, surroundings: Surroundings, terminal: Terminal): Promise<Night> {
  const { build, importCommand } = order
  const { env, now, elapsed } = surroundings
  const started = toIsoInstant(now())
  const steps: Step[] = []
  const take = <Result>(step: StepName, work: () => Promise<Result>): Promise<Result> =>
    timed(step, work, elapsed, steps)
  let summary: BuildSummary | null = null
  const end = (error: unknown): Night => ({
    report: toReport(started, toIsoInstant(now()), steps, summary, error),
    error,
  })
  try {
    if (importCommand !== null) {
      await take('import', () => importData(importCommand, build.book, env, terminal.note))
    }
    const published = toSummary(await take('build', () => buildVersion(build, surroundings, terminal)))
    summary = published
    await take('verify', () => verify(order, published.version, surroundings, terminal))
    await take('purge', () => followPointer(build, surroundings, terminal))
    return end(null)
  } catch (error) {
    return end(error ?? new Error('an unknown reason'))
  }
}

async function timed<Result>(
  step: StepName,
  work: () => Promise<Result>,
  elapsed: () => number,
  steps: Step[],
): Promise<Result> {
  const since = elapsed()
  const note = (outcome: Step['outcome']): number =>
    steps.push({ step, outcome, ms: Math.round(elapsed() - since) })
  try {
    const result = await work()
    note('done')
    return result
  } catch (error) {
    note('failed')
    throw error
  }
}

const REMEDY =
  'what is damaged is computed meanwhile; look at the disk or the bucket, and run the night again, or go back with ' +
  '`highwater rollback`'

/** Reads the whole new version back, as a subscriber would, with its snapshot. */
async function verify(
  { build, isPrivateNamed }: NightOrder,
  version: string,
  { now }: Surroundings,
  { progress }: Terminal,
): Promise<void> {
  const store = await openStore(build.storeUrl, build.s3)
  const privateStore = await openStore(build.privateStoreUrl, build.s3)
  const found = await audit({
    reader: createStoreReader(store),
    trust: { kind: 'published' },
    nowMs: now(),
    versions: { version },
    isUnsignedFault: false,
    isExpiryFault: false,
    privateStore: { store: privateStore, isNamed: isPrivateNamed },
    progress,
  })
  assertSound(store.url, found, REMEDY)
}

/** None of this can fail the night: it ended already. */
async function tell(
  report: NightReport,
  { build }: NightOrder,
  surroundings: Surroundings,
  { note }: Terminal,
  ping: Ping,
): Promise<void> {
  const openPrivate = () => openStore(build.privateStoreUrl, build.s3)
  const alerts = createNightAlerts(openPrivate, build.alertWays, surroundings, note)
  const { error, version, steps } = report
  if (error === null) await alerts.done(version ?? '')
  else await alerts.failed(steps.at(-1)?.step ?? 'the beginning', error)
  const { summary: _summary, ...short } = report // a service that watches keeps a few kilobytes
  await ping(error === null ? 'done' : 'fail', JSON.stringify(short))
}
