// A nightly job: import, build and publish, verify, purge; then the report, the alert and the ping.

import type { ChildProcess } from 'node:child_process'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import { messageOf } from '#storage/error-code.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { LockedError } from '#storage/lock.ts'
import { FAILING_KEY, readFailing } from '#storage/night-report.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { withStoreLock } from '../guard-pointer.ts'
import type { BuildOrder } from '../options/build-options.ts'
import { type BuildSummary, toSummary } from '../print/build-summary.ts'
import type { Terminal } from '../print/terminal.ts'
import type { Runtime } from '../runtime.ts'
import { type AlertWays, createAlertSender, post } from '../services/send-alert.ts'
import { runShell } from '../services/shell.ts'
import { VARIABLE_NAMES } from '../settings/environment.ts'
import { assertSound, auditStore } from '../verify-report.ts'
import { buildVersion } from './build-version.ts'
import { followPointer } from './follow-pointer.ts'

export type NightOrder = {
  readonly build: BuildOrder
  readonly isPrivateNamed: boolean
  readonly importCommand: string | null
  readonly pingUrl: string | null
}

/** The report, and the error of a failed job; null if it succeeded. */
type Night = { readonly report: NightReport; readonly error: unknown }

/**
 * Runs a nightly job to its end, and reports the result. Rejects if another one is running: that one reports.
 * A job that is run again publishes another version of the same data.
 */
export async function runNight(order: NightOrder, runtime: Runtime): Promise<Night> {
  const { build } = order
  const store = await openStore(build.storeUrl, build.s3)
  const privateStore = await openStore(build.privateStoreUrl, build.s3)
  const run = async (): Promise<Night> => {
    await ping('start', '', order, runtime)
    const night = await walk(order, runtime)
    await keepReport(night.report, privateStore, runtime.terminal)
    await notify(night.report, order, privateStore, runtime)
    return night
  }
  // A separate lock: two imports must not run at the same time, and the build takes the lock of the pointer itself.
  return withStoreLock(store, runtime, run, 'night').catch((error: unknown) => {
    if (error instanceof LockedError) throw error
    return reportFailed(error, order, privateStore, runtime) // not begun: a store that cannot be written
  })
}

/** Reports a night that was killed as one that failed: it could not do so itself. */
export async function reportKilled(order: NightOrder, runtime: Runtime): Promise<void> {
  const privateStore = await openStore(order.build.privateStoreUrl, order.build.s3)
  const error = new Error('it was killed: see its log and that of the kernel')
  await reportFailed(error, order, privateStore, runtime)
}

/** Reports a night without steps. */
async function reportFailed(
  error: unknown,
  order: NightOrder,
  privateStore: ObjectStore,
  runtime: Runtime,
): Promise<Night> {
  const at = toIsoInstant(runtime.now())
  const report = toReport(at, at, [], null, error)
  await notify(report, order, privateStore, runtime)
  return { report, error }
}

/** Tells the operator and the service that watches. */
async function notify(
  report: NightReport,
  order: NightOrder,
  privateStore: ObjectStore,
  runtime: Runtime,
): Promise<void> {
  await alertOutcome(report, privateStore, order.build.alertWays, runtime)
  const { summary: _summary, ...short } = report // a service that watches keeps a few kilobytes
  await ping(report.error === null ? 'done' : 'fail', JSON.stringify(short), order, runtime)
}

/** The steps, up to the first that fails. */
async function walk(order: NightOrder, runtime: Runtime): Promise<Night> {
  const { build, importCommand } = order
  const { env, now, elapsed, terminal } = runtime
  const started = toIsoInstant(now())
  const steps: Step[] = []
  const take = async <Result>(step: StepName, work: () => Promise<Result>): Promise<Result> => {
    const since = elapsed()
    let outcome: Step['outcome'] = 'failed'
    try {
      const result = await work()
      outcome = 'done'
      return result
    } finally {
      steps.push({ step, outcome, ms: Math.round(elapsed() - since) })
    }
  }
  let summary: BuildSummary | null = null
  const end = (error: unknown): Night => ({
    report: toReport(started, toIsoInstant(now()), steps, summary, error),
    error,
  })
  try {
    if (importCommand !== null) {
      await take('import', () => importData(importCommand, build.book, env, terminal.note))
    }
    const published = toSummary(await take('build', () => buildVersion(build, runtime)))
    summary = published
    await take('verify', () => verify(order, published.version, runtime))
    await take('purge', () => followPointer(build, runtime))
    return end(null)
  } catch (error) {
    return end(error ?? new Error('an unknown reason'))
  }
}

const REMEDY =
  'the service computes answers whose files are corrupt; check the disk or the bucket, and run `highwater nightly` again, ' +
  'or go back with `highwater rollback`'

/** Reads the whole new version back, as a subscriber would, with its snapshot. */
async function verify(
  { build, isPrivateNamed }: NightOrder,
  version: string,
  runtime: Runtime,
): Promise<void> {
  const store = await openStore(build.storeUrl, build.s3)
  const privateStore = await openStore(build.privateStoreUrl, build.s3)
  const stores = { store, privateStore, isPrivateNamed }
  assertSound(store.url, await auditStore(stores, { version }, runtime), REMEDY)
}

type StepName = 'import' | 'build' | 'verify' | 'purge'

type Step = {
  readonly step: StepName
  readonly outcome: 'done' | 'failed'
  readonly ms: number
}

/** The result of a nightly job, for people and for programs. */
type NightReport = ReturnType<typeof toReport>

/** Longer messages are cut: a book may have thousands of problems, and the log has them all. */
const LONGEST_ERROR = 2_000

function toReport(
  started_utc: string,
  ended_utc: string,
  steps: readonly Step[],
  summary: BuildSummary | null,
  error: unknown,
) {
  return {
    outcome: error === null ? 'done' : 'failed',
    /** The published version, null if none was published. */
    version: summary?.version ?? null,
    host: hostname(),
    started_utc,
    ended_utc,
    steps,
    /** Null if there is none. */
    error: error === null ? null : messageOf(error).slice(0, LONGEST_ERROR),
    summary,
  }
}

/** Saves the report beside the record of the build, if a version was published. */
async function keepReport(report: NightReport, privateStore: ObjectStore, { note }: Terminal): Promise<void> {
  if (report.version === null) return
  try {
    const headers = { content_type: 'application/json' }
    await privateStore.replace(privateKey(report.version, 'night.json'), toJsonBytes(report), headers)
  } catch (error) {
    note(`warning: the report was not kept: ${messageOf(error)}`)
  }
}

const NAME_WIDTH = 8

/** A line for the job, and a line for each step. */
export function printReport(report: NightReport, { print }: Terminal): void {
  const { outcome, version, started_utc, ended_utc, steps } = report
  print(`night ${outcome}: ${version ?? 'nothing'} published   ${started_utc} to ${ended_utc}`)
  for (const { step, outcome: how, ms } of steps) {
    print(`${how === 'done' ? 'ok    ' : 'FAILED'}  ${step.padEnd(NAME_WIDTH)} ${(ms / 1_000).toFixed(1)} s`)
  }
}

/** An import that takes longer hangs. */
const IMPORT_TIMEOUT_MS = 2 * 3_600_000

/**
 * Runs the command that updates the data of a book, in a shell in the folder of the book. It gets the environment, with
 * its own credentials, but none of Highwater's variables, which contain secrets. Its output goes to `note`. Rejects if
 * its exit code is not 0.
 */
async function importData(
  command: string,
  book: string,
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
): Promise<void> {
  const watch = ({ stdout, stderr }: ChildProcess): void => {
    for (const input of [stdout, stderr])
      if (input !== null) createInterface({ input }).on('line', line => note(`import: ${line}`))
  }
  const order = { cwd: book, env: withoutOurs(env), timeoutMs: IMPORT_TIMEOUT_MS, watch }
  await runShell(command, order).catch((error: unknown) => {
    throw new Error(`the import ${messageOf(error)}; see its output above`)
  })
}

const withoutOurs = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !VARIABLE_NAMES.includes(name)))

// Alerts on nightly jobs: once for each cause, however long it lasts, and once when it is resolved.

/**
 * Reports the outcome to the operator: each cause of a failure once, and the next success. Never rejects: an alert that
 * cannot be sent, or a state that cannot be saved, does not fail the job.
 */
async function alertOutcome(
  { error, version, steps }: NightReport,
  privateStore: ObjectStore,
  ways: AlertWays,
  runtime: Runtime,
): Promise<void> {
  const { note } = runtime.terminal
  const send = createAlertSender(ways, runtime, note)
  const warn = (thrown: unknown): null => {
    note(`warning: the state of the nightly job was not saved: ${messageOf(thrown)}`)
    return null
  }
  const known = await readFailing(privateStore).catch(warn)
  if (error === null) {
    if (known === null) return
    const message = `the nightly job succeeds again, after failures since ${known.since}: ${version} is published`
    await send({ kind: 'night_mended', subject: 'night', message })
    await privateStore.remove(FAILING_KEY).catch(warn)
    return
  }
  const step = steps.at(-1)?.step ?? 'night'
  const cause = causeOf(step, error)
  if (known?.cause === cause) return
  const message = `the nightly job failed${steps.length === 0 ? '' : ` at step ${step}`}: ${error}`
  await send({ kind: 'night_failed', subject: step, message })
  const state = toJsonBytes({ since: known?.since ?? toIsoInstant(runtime.now()), cause })
  await privateStore.replace(FAILING_KEY, state, { content_type: 'application/json' }).catch(warn)
}

/** The same cause has other dates and ages every time. */
const causeOf = (step: string, message: string): string => `${step}: ${message.replaceAll(/\d+/g, '#')}`

// Pings at the beginning and the end, for a service that watches for nights that did not happen.

/** A missed ping raises an alarm, so short network failures are retried. */
const ATTEMPTS = 3
const PAUSE_MS = 2_000

/** Requests the address when a night is done, else with `/start` or `/fail` behind it. Never rejects. */
async function ping(
  what: 'start' | 'done' | 'fail',
  body: string,
  { pingUrl }: NightOrder,
  { pause, terminal }: Runtime,
): Promise<void> {
  if (pingUrl === null) return
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await post('NIGHTLY_PING_URL', withEnding(pingUrl, what), { body })
    } catch (error) {
      if (attempt === ATTEMPTS) terminal.note(`warning: the ping (${what}) failed: ${messageOf(error)}`)
      else await pause(PAUSE_MS)
    }
  }
}

function withEnding(text: string, what: 'start' | 'done' | 'fail'): string {
  const url = new URL(text)
  if (what !== 'done') url.pathname = `${url.pathname.replace(/\/$/, '')}/${what}`
  return url.href
}
