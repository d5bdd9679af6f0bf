import type { Command } from 'commander'
import { addBuildOptions, type BuildOptions, toBuildOrder } from '../build-options.ts'
import { printSummary } from '../build-summary.ts'
import { readEnvironment } from '../environment.ts'
import { type NightOrder, printReport, runNight } from '../night.ts'
import type { Runtime } from '../runtime.ts'
import { isPrivateStoreNamed } from '../store-option.ts'

type Options = BuildOptions & { readonly import?: string }

const ABOUT = `
Steps: import, if there is an import command; build and publish; verify the published version; purge the caches. If a step
before publication fails, nothing is published and the version before stays served. A failure exits with 1, sends one alert
for each cause to ALERT_URL and ALERT_COMMAND, and requests NIGHTLY_PING_URL with /fail; the next success sends one more alert.

Examples:
  highwater nightly --book ./book --store file:///var/lib/highwater/store
  NIGHTLY_IMPORT_COMMAND='./fetch-bars' highwater nightly --book /srv/book --json`

/** `highwater nightly`: everything that a night needs, for cron and systemd. */
export function defineNightly(command: Command, runtime: Runtime): void {
  addBuildOptions(command)
    .option(
      '--import <command>',
      'a shell command that updates the data of the book (default: NIGHTLY_IMPORT_COMMAND)',
    )
    .option('--json', 'print the report as one JSON document')
    .addHelpText('after', ABOUT)
    .action((options: Options) => runNightly(options, runtime))
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
