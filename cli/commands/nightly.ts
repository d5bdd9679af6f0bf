import type { Command } from 'commander'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { messageOf } from '#storage/error-code.ts'
import { type NightOrder, printReport, reportKilled, runNight } from '../build/night.ts'
import { addBuildOptions, type BuildOptions, toBuildOrder } from '../options/build-options.ts'
import { isPrivateStoreNamed } from '../options/store-option.ts'
import { printSummary } from '../print/build-summary.ts'
import type { Runtime } from '../runtime.ts'
import { readEnvironment, UsageError } from '../settings/environment.ts'

type Options = BuildOptions & { readonly import?: string; readonly at?: string; readonly killed?: boolean }

const ABOUT = `
Steps: import, if there is an import command; build and publish; verify the published version; purge the caches. If a step
before publication fails, nothing is published and the version before stays served. A failure exits with 1, sends one alert
for each cause to ALERT_URL and ALERT_COMMAND, and requests NIGHTLY_PING_URL with /fail; the next success sends one more alert.

Examples:
  highwater nightly --book ./book --store file:///var/lib/highwater/store
  NIGHTLY_IMPORT_COMMAND='./fetch-bars' highwater nightly --book /srv/book --json
  highwater nightly --book /srv/book --at 00:15`

/** `highwater nightly`: everything that a night needs, for cron and systemd, and with --at for containers. */
export function defineNightly(command: Command, runtime: Runtime): void {
  addBuildOptions(command)
    .option(
      '--import <command>',
      'a shell command that updates the data of the book (default: NIGHTLY_IMPORT_COMMAND)',
    )
    .option('--at <time>', 'stay, and run a night each day at this time of day, UTC, such as 00:15')
    .option('--killed', 'run none, and report that one was killed, as for OnFailure= of systemd')
    .option('--json', 'print the report as one JSON document')
    .addHelpText('after', ABOUT)
    .action((options: Options) => {
      if (options.killed) return reportKilled(toNightOrder(options, runtime), runtime)
      if (options.at !== undefined) return runEachDay(options.at, options, runtime)
      return runNightly(options, runtime)
    })
}

/** How soon the end of the process is noticed while it waits. */
const LONGEST_PAUSE_MS = 1_000

/** A night that fails is reported, and the next one runs. A night that is under way at the end of the process is completed. */
async function runEachDay(at: string, options: Options, runtime: Runtime): Promise<void> {
  const { now, pause, terminal } = runtime
  const timeMs = parseTime(at)
  let isStopped = false
  const stopped = runtime.untilStopped().then(() => {
    isStopped = true
  })
  while (!isStopped) {
    const dueMs = nextAt(timeMs, now())
    terminal.note(`the next night begins at ${toIsoInstant(dueMs)}`)
    while (!isStopped && now() < dueMs)
      await Promise.race([pause(Math.min(dueMs - now(), LONGEST_PAUSE_MS)), stopped])
    if (!isStopped)
      await runNightly(options, runtime).catch((error: unknown) =>
        terminal.note(`highwater: ${messageOf(error)}`),
      )
  }
}

/** The first instant after `nowMs` with a time of day. */
const nextAt = (timeMs: number, nowMs: number): number => {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS + timeMs
  return today > nowMs ? today : today + DAY_MS
}

function parseTime(text: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (hours !== undefined) return (Number(hours) * 60 + Number(minutes)) * 60_000
  throw new UsageError(`--at: expected a time of day such as 00:15, got '${text}'`)
}

async function runNightly(options: Options, runtime: Runtime): Promise<void> {
  const terminal = runtime.terminal
  const { report, error } = await runNight(toNightOrder(options, runtime), runtime)
  if (options.json) terminal.json(report)
  else {
    if (report.summary !== null) printSummary(report.summary, terminal)
    printReport(report, terminal)
  }
  if (error !== null) throw error
}

function toNightOrder(options: Options, runtime: Runtime): NightOrder {
  const { operations } = readEnvironment(runtime)
  return {
    build: toBuildOrder(options, runtime),
    isPrivateNamed: isPrivateStoreNamed(options, runtime),
    importCommand: options.import ?? operations.importCommand,
    pingUrl: operations.pingUrl,
  }
}
