import type { Command } from 'commander'
import { prune } from '#static-build/prune.ts'
import { withStoreLock } from '../store-lock.ts'
import { addStoreOptions, openBothStores, type StoreOptions } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'
import { UsageError } from '../usage-error.ts'

type Options = StoreOptions & {
  readonly keepDays: string
  readonly keepMonthEnds?: boolean
  readonly json?: boolean
}

/** `highwater prune`: removes old versions, which answer 410 from then on. */
export function definePrune(command: Command, surroundings: Surroundings): void {
  addStoreOptions(command)
    .requiredOption(
      '--keep-days <n>',
      'versions published in the last so many days stay; the served one always does',
    )
    .option('--keep-month-ends', 'the last version of each month, by its name, stays too')
    .option('--json', 'print what was removed as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater prune --keep-days 90 --keep-month-ends')
    .action((options: Options) => runPrune(options, surroundings))
}

async function runPrune(options: Options, surroundings: Surroundings): Promise<void> {
  const rule = { keepDays: parseDays(options.keepDays), keepMonthEnds: options.keepMonthEnds ?? false }
  const terminal = surroundings.terminal
  const { store, privateStore } = await openBothStores(options, surroundings)
  const pruned = await withStoreLock(store, surroundings, terminal, () =>
    prune(store, privateStore, rule, surroundings.now()),
  )
  if (options.json) return terminal.json(pruned)
  for (const version of pruned.removed) terminal.print(`removed ${version}`)
  for (const folder of pruned.unfinished) terminal.print(`removed ${folder}, which was never published`)
  if (pruned.removed.length + pruned.unfinished.length === 0) terminal.print('nothing to remove')
}

function parseDays(text: string): number {
  const days = Number(text)
  if (text.trim() !== '' && Number.isInteger(days) && days >= 0) return days
  throw new UsageError(`--keep-days: expected a whole number of days such as 90, got '${text}'`)
}
