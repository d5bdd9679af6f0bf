import { printSummary, toSummary } from '../build/build-summary.ts'
import { buildVersion } from '../build/build-version.ts'
import { followPointer } from '../build/follow-pointer.ts'
import { BUILD_OPTIONS, toBuildOrder } from '../options/build-options.ts'
import { define, flag, option } from '../options/command.ts'
import { text } from '../settings/text.ts'

const EXAMPLES = `
Examples:
  highwater build --book ./book --store file:///var/lib/highwater
  highwater build --book ./book --reproduce /var/lib/highwater/v1/snapshots/20260701T001500Z/manifest.json
  highwater build --book ./book --store file:///tmp/past --as-of 2026-06-30 --version 2026-07-01T00:15:00Z`

const OPTIONS = {
  ...BUILD_OPTIONS,
  json: flag('print the summary as one JSON document'),
  reproduce: option(
    '<manifest>',
    'build the version of this manifest again, compare, and publish nothing',
    text,
  ),
}

export const defineBuild = define(OPTIONS, EXAMPLES, async (options, runtime) => {
  const order = toBuildOrder(options, runtime)
  if (options.reproduce !== undefined) {
    const { reproduce } = await import('../build/reproduce.ts')
    return reproduce(options.reproduce, order, runtime)
  }
  const summary = toSummary(await buildVersion(order, runtime))
  if (options.json) runtime.terminal.json(summary)
  else printSummary(summary, runtime.terminal)
  await followPointer(order.settings, runtime)
})
