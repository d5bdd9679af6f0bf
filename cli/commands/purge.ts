import type { Command } from 'commander'
import { forgetPurges } from '#static-build/purge-due.ts'
import { describePurge, purgeAfter } from '../follow-pointer.ts'
import { addStoreOptions, openBothStores, type StoreOptions, storeUrls } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'
import { UsageError } from '../usage-error.ts'

type Options = StoreOptions & { readonly again?: boolean; readonly json?: boolean }

const ABOUT = `
What is due follows from the pointer log and from a note in the private store: nothing else has to be kept.

Example:
  CDN_PURGE_URL=http://127.0.0.1:8088 highwater purge`

/** `highwater purge`: what builds and rollbacks do at their end, where one of them could not. */
export function definePurge(command: Command, surroundings: Surroundings): void {
  addStoreOptions(command)
    .option('--again', 'purge although caches followed the pointer: everything is due once more')
    .option('--json', 'print what became of it as one JSON document')
    .addHelpText('after', ABOUT)
    .action((options: Options) => runPurge(options, surroundings))
}

async function runPurge(options: Options, surroundings: Surroundings): Promise<void> {
  const terminal = surroundings.terminal
  if (options.again) await forgetPurges((await openBothStores(options, surroundings)).privateStore)
  const outcome = await purgeAfter(storeUrls(options, surroundings), surroundings)
  if (outcome === null) {
    throw new UsageError('no cache is named: CDN_PURGE_URL or CDN_PURGE_COMMAND says how to purge (--help)')
  }
  if (outcome.kind === 'late') throw new Error(describePurge(outcome))
  if (options.json) terminal.json(outcome)
  else terminal.print(describePurge(outcome))
}
