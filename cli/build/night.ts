// A nightly job: import, build and publish, verify, purge; then the report, the alert and the ping.
import type { ChildProcess } from 'node:child_process'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import { messageOf } from '#storage/error-code.ts'
import { replaceDocument } from '#storage/json-bytes.ts'
import { LockedError } from '#storage/lock.ts'
import { FAILING_KEY, readFailing } from '#storage/night-report.ts'
import { retry } from '#storage/retry.ts'
import type { BuildOrder } from '../options/build-options.ts'
import { openStores } from '../options/store-option.ts'
import { createAlertSender, post } from '../outside/send-alert.ts'
import { runShell } from '../outside/shell.ts'
import type { Terminal } from '../print/terminal.ts'
import { assertSound, auditStore } from '../print/verify-report.ts'
import type { Runtime } from '../runtime.ts'
import { VARIABLE_NAMES } from '../settings/environment.ts'
import { type BuildSummary, toSummary } from './build-summary.ts'
import { buildVersion } from './build-version.ts'
import { followPointer } from './follow-pointer.ts'
import { withStoreLock } from './guard-pointer.ts'

export type NightOrder = {
  readonly build: BuildOrder
  readonly importCommand: string | null
}

type Job = Awaited<ReturnType<typeof open>>

const open = async (order: NightOrder, runtime: Runtime) => ({
  ...order,
  ...(await openStores(order.build.settings)),
  runtime,
})

/** Runs a night to its end, and reports it. Rejects if one is running: that one reports. Run again, it publishes another version. */
export async function runNight(order: NightOrder, runtime: Runtime): Promise<Night> {
  const job = await open(order, runtime)
  const run = async (): Promise<Night> => {
    await ping('start', '', job)
    const night = await walk(job)
    await keepReport(night.report, job)
    await notify(night.report, job)
    return night
  }
  // A separate lock: two imports must not run at the same time, and the build takes the lock of the pointer itself.
  return withStoreLock(job.store, runtime, run, 'night').catch((error: unknown) => {
    if (error instanceof LockedError) throw error
    return reportFailed(error, job) // not begun: a store that cannot be written
  })
}

/** Reports a night that was killed as one that failed: it could not do so itself. */
export async function reportKilled(order: NightOrder, runtime: Runtime): Promise<void> {
  const error = new Error('it was killed: see its log and that of the kernel')
  await reportFailed(error, await open(order, runtime))
}

async function reportFailed(error: unknown, job: Job): Promise<Night> {
  const night = toNight(toIsoInstant(job.runtime.now()), [], null, error, job.runtime)
  await notify(night.report, job)
  return night
}

/** Sends the outcome to the operator and to the service that watches. */
async function notify(report: NightReport, job: Job): Promise<void> {
  await alertOutcome(report, job)
  const { summary: _summary, ...short } = report // a service that watches keeps a few kilobytes
  await ping(report.error === null ? 'done' : 'fail', JSON.stringify(short), job)
}

async function walk(job: Job): Promise<Night> {
  const { build, importCommand, store, runtime } = job
  const { now, elapsed } = runtime
  const started = toIsoInstant(now())
  const steps: Step[] = []
  const take = async <Result>(step: Step['step'], work: () => Promise<Result>): Promise<Result> => {
    const since = elapsed()
    const end = (outcome: Step['outcome']) => steps.push({ step, outcome, ms: Math.round(elapsed() - since) })
    const result = await work().catch((error: unknown) => {
      end('failed')
      throw error
    })
    end('done')
    return result
  }
  let summary: BuildSummary | null = null
  let error: unknown = null
  try {
    if (importCommand !== null) await take('import', () => importData(importCommand, build.book, runtime))
    const published = await toSummary(await take('build', () => buildVersion(build, runtime)))
    summary = published
    await take('verify', async () =>
      assertSound(store.url, await auditStore(job, { version: published.version }, runtime), REMEDY),
    )
    await take('purge', () => followPointer(build.settings, runtime))
  } catch (thrown) {
    error = thrown ?? new Error('an unknown reason')
  }
  return toNight(started, steps, summary, error, runtime)
}

const REMEDY =
  'the service computes answers whose files are corrupt; check the disk or the bucket, and run `highwater nightly` again, ' +
  'or go back with `highwater rollback`'

type Step = {
  readonly step: 'import' | 'build' | 'verify' | 'purge'
  readonly outcome: 'done' | 'failed'
  readonly ms: number
}

type Night = ReturnType<typeof toNight>

type NightReport = Night['report']

/** Longer messages are cut: a book may have thousands of problems, and the log has them all. */
const LONGEST_ERROR = 2_000

/** The report, for people and for programs, and the error of a failed job; null if it succeeded. */
const toNight = (
  started_utc: string,
  steps: readonly Step[],
  summary: BuildSummary | null,
  error: unknown,
  { now }: Runtime,
) => ({
  report: {
    outcome: error === null ? 'done' : 'failed',
    /** The published version, null if none was published. */
    version: summary?.version ?? null,
    host: hostname(),
    started_utc,
    ended_utc: toIsoInstant(now()),
    steps,
    error: error === null ? null : messageOf(error).slice(0, LONGEST_ERROR),
    summary,
  },
  error,
})

/** Saves the report beside the record of the build, if a version was published. */
async function keepReport(report: NightReport, { privateStore, runtime }: Job): Promise<void> {
  if (report.version === null) return
  const key = privateKey(report.version, 'night.json')
  await replaceDocument(privateStore, key, report).catch((error: unknown) => {
    runtime.terminal.note(`warning: the report was not kept: ${messageOf(error)}`)
  })
}

export function printReport(report: NightReport, { print }: Terminal): void {
  const { outcome, version, started_utc, ended_utc, steps } = report
  print(`night ${outcome}: ${version ?? 'nothing'} published   ${started_utc} to ${ended_utc}`)
  for (const { step, outcome: how, ms } of steps)
    print(`${how === 'done' ? 'ok    ' : 'FAILED'}  ${step.padEnd(8)} ${(ms / 1_000).toFixed(1)} s`)
}

/** An import that takes longer hangs. */
const IMPORT_TIMEOUT_MS = 2 * 3_600_000

/** Runs the import in the folder of the book, without Highwater's variables, which hold secrets. Rejects if its exit code is not 0. */
async function importData(command: string, book: string, { env, terminal }: Runtime): Promise<void> {
  const theirs = Object.entries(env).filter(([name]) => !VARIABLE_NAMES.includes(name))
  const order = {
    cwd: book,
    env: Object.fromEntries(theirs),
    timeoutMs: IMPORT_TIMEOUT_MS,
    watch: ({ stdout, stderr }: ChildProcess): void => {
      for (const input of [stdout, stderr])
        if (input !== null) createInterface({ input }).on('line', line => terminal.note(`import: ${line}`))
    },
  }
  await runShell(command, order).catch((error: unknown) => {
    throw new Error(`the import ${messageOf(error)}; see its output above`)
  })
}

/** Reports each cause of a failure once, however long it lasts, and the next success. Never rejects: that would fail the job. */
async function alertOutcome({ error, version, steps }: NightReport, job: Job): Promise<void> {
  const { privateStore, runtime } = job
  const { note } = runtime.terminal
  const send = createAlertSender(job.build.settings, runtime, note)
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
  const cause = `${step}: ${error.replaceAll(/\d+/g, '#')}` // the same cause has other dates and ages every time
  if (known?.cause === cause) return
  const message = `the nightly job failed${steps.length === 0 ? '' : ` at step ${step}`}: ${error}`
  await send({ kind: 'night_failed', subject: step, message })
  const state = { since: known?.since ?? toIsoInstant(runtime.now()), cause }
  await replaceDocument(privateStore, FAILING_KEY, state).catch(warn)
}

/** A missed ping raises an alarm, so short network failures are retried. */
const ATTEMPTS = 3
const PAUSE_MS = 2_000

/** Requests the address that watches for missing nights: as it is once one is done, else with `/start` or `/fail`. Never rejects. */
async function ping(what: 'start' | 'done' | 'fail', body: string, { build, runtime }: Job): Promise<void> {
  if (build.settings.NIGHTLY_PING_URL === null) return
  const url = new URL(build.settings.NIGHTLY_PING_URL)
  if (what !== 'done') url.pathname = `${url.pathname.replace(/\/$/, '')}/${what}`
  const send = () => post('NIGHTLY_PING_URL', url.href, { body })
  await retry(send, ATTEMPTS, () => runtime.pause(PAUSE_MS)).catch((error: unknown) =>
    runtime.terminal.note(`warning: the ping (${what}) failed: ${messageOf(error)}`),
  )
}
