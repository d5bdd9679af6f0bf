import type { Command } from 'commander'
import { addBuildOptions, type BuildOptions, toBuildOrder } from '../build-options.ts'
import { printSummary, toSummary } from '../build-summary.ts'
import { buildVersion } from '../build-version.ts'
import { followPointer } from '../follow-pointer.ts'
import type { Surroundings } from '../surroundings.ts'

const EXAMPLES = `
Examples:
  highwater build --book ./book --store file:///var/lib/highwater
  highwater build --book ./book --store file:///tmp/past --as-of 2026-06-30 --version 2026-07-01T00:15:00Z`

/** `highwater build`: computes and publishes. */
export function defineBuild(command: Command, surroundings: Surroundings): void {
  addBuildOptions(command)
    .option('--json', 'print the summary as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action((options: BuildOptions) => runBuild(options, surroundings))
}

async function runBuild(options: BuildOptions, surroundings: Surroundings): Promise<void> {
  const json = options.json ?? false
  const terminal = surroundings.terminal
  const order = toBuildOrder(options, surroundings)
  const summary = toSummary(await buildVersion(order, surroundings))
  if (json) terminal.json(summary)
  else printSummary(summary, terminal)
  await followPointer(order, surroundings, terminal)
}
