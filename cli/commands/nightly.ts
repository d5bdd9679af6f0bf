import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { messageOf } from '#storage/error-code.ts'
import { printSummary } from '../build/build-summary.ts'
import { type NightOrder, printReport, reportKilled, runNight } from '../build/night.ts'
import { BUILD_OPTIONS, toBuildOrder } from '../options/build-options.ts'
import { define, flag, option } from '../options/command.ts'
import type { Runtime } from '../runtime.ts'
import { readBy } from '../settings/text.ts'

const ABOUT = `
Steps: import, if there is an import command; build and publish; verify the published version; purge the caches. If a step
before publication fails, nothing is published and the version before stays served. A failure exits with 1, sends one alert
for each cause to ALERT_URL and ALERT_COMMAND, and requests NIGHTLY_PING_URL with /fail; the next success sends one more alert.

Examples:
  highwater nightly --book ./book --store file:///var/lib/highwater/store
  NIGHTLY_IMPORT_COMMAND='./fetch-bars' highwater nightly --book /srv/book --json
  highwater nightly --book /srv/book --at 00:15`

/** Milliseconds since midnight. */
const timeOfDay = readBy(given => {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(given) ?? []
  return hours === undefined ? null : (Number(hours) * 60 + Number(minutes)) * 60_000
}, 'a time of day such as 00:15')

const OPTIONS = {
  ...BUILD_OPTIONS,
  import: option(
    '<command>',
    'a shell command that updates the data of the book (default: NIGHTLY_IMPORT_COMMAND)',
  ),
  at: option('<time>', 'stay, and run a night each day at this time of day, UTC, such as 00:15', timeOfDay),
  killed: flag('run none, and report that one was killed, as for OnFailure= of systemd'),
  json: flag('print the report as one JSON document'),
}

export const defineNightly = define(OPTIONS, ABOUT, (options, runtime) => {
  const build = toBuildOrder(options, runtime)
  const order = { build, importCommand: options.import ?? build.settings.NIGHTLY_IMPORT_COMMAND }
  if (options.killed) return reportKilled(order, runtime)
  const run = () => runNightly(order, options.json, runtime)
  return options.at === undefined ? run() : runEachDay(options.at, run, runtime)
})

/** How soon the end of the process is noticed while it waits. */
const LONGEST_PAUSE_MS = 1_000

/** A night that fails is reported, and the next one runs. A night that is under way at the end of the process is completed. */
async function runEachDay(timeMs: number, run: () => Promise<void>, runtime: Runtime): Promise<void> {
  const { now, pause, terminal } = runtime
  let isStopped = false
  const stopped = runtime.untilStopped().then(() => {
    isStopped = true
  })
  while (!isStopped) {
    const todayMs = Math.floor(now() / DAY_MS) * DAY_MS + timeMs
    const dueMs = todayMs > now() ? todayMs : todayMs + DAY_MS
    terminal.note(`the next night begins at ${toIsoInstant(dueMs)}`)
    while (!isStopped && now() < dueMs)
      await Promise.race([pause(Math.min(dueMs - now(), LONGEST_PAUSE_MS)), stopped])
    if (!isStopped) await run().catch((error: unknown) => terminal.note(`highwater: ${messageOf(error)}`))
  }
}

async function runNightly(order: NightOrder, isJson: boolean | undefined, runtime: Runtime): Promise<void> {
  const { terminal } = runtime
  const { report, error } = await runNight(order, runtime)
  if (isJson) terminal.json(report)
  else {
    if (report.summary !== null) printSummary(report.summary, terminal)
    printReport(report, terminal)
  }
  if (error !== null) throw error
}
