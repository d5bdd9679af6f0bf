import type { Command } from 'commander'
import { buildVersion } from '../build/build-version.ts'
import { followPointer } from '../build/follow-pointer.ts'
import { addBuildOptions, type BuildOptions, toBuildOrder } from '../options/build-options.ts'
import { printSummary, toSummary } from '../print/build-summary.ts'
import type { Runtime } from '../runtime.ts'

const EXAMPLES = `
Examples:
  highwater build --book ./book --store file:///var/lib/highwater
  highwater build --book ./book --reproduce /var/lib/highwater/v1/snapshots/20260701T001500Z/manifest.json
  highwater build --book ./book --store file:///tmp/past --as-of 2026-06-30 --version 2026-07-01T00:15:00Z`

/** `highwater build`: computes and publishes. */
export function defineBuild(command: Command, runtime: Runtime): void {
  addBuildOptions(command)
    .option('--json', 'print the summary as one JSON document')
    .option(
      '--reproduce <manifest>',
      'build the version of this manifest again, compare, and publish nothing',
    )
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => runBuild(options, runtime))
}

type Options = BuildOptions & { readonly reproduce?: string }

async function runBuild(options: Options, runtime: Runtime): Promise<void> {
  const json = options.json ?? false
  const terminal = runtime.terminal
  const order = toBuildOrder(options, runtime)
  if (options.reproduce !== undefined) {
    const { reproduce } = await import('../build/reproduce.ts')
    return reproduce(options.reproduce, order, runtime)
  }
  const summary = toSummary(await buildVersion(order, runtime))
  if (json) terminal.json(summary)
  else printSummary(summary, terminal)
  await followPointer(order, runtime)
}
