import type { Command } from 'commander'
import { audit } from '#static-build/audit/audit.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import { addStoreOptions, isPrivateStoreNamed, openBothStores, type StoreOptions } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'
import { assertSound, printVersions, toReport } from '../verify-report.ts'

type Options = StoreOptions & { readonly json?: boolean }

const EXAMPLES = `
Examples:
  highwater verify-store --store file:///var/lib/highwater
  highwater verify-store --json`

const REMEDY =
  'answers whose files are missing or altered are computed meanwhile; restore the objects from a copy, or build the ' +
  'version again with the same book and code'

/**
 * `highwater verify-store`: the log, the signatures, and every version to its last file. Exit code 1 where something
 * is wrong; everything that is wrong is told in one run.
 */
export function defineVerifyStore(command: Command, surroundings: Surroundings): void {
  addStoreOptions(command)
    .option('--json', 'print the findings as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const terminal = surroundings.terminal
      const { store, privateStore } = await openBothStores(options, surroundings)
      const reader = createStoreReader(store)
      const isNamed = isPrivateStoreNamed(options, surroundings)
      const found = await audit({
        reader,
        trust: { kind: 'published' },
        nowMs: surroundings.now(),
        versions: 'all',
        isUnsignedFault: false,
        isExpiryFault: false,
        privateStore: { store: privateStore, isNamed },
        progress: terminal.progress,
      })
      if (options.json) terminal.json(toReport(store.url, found))
      else printVersions(found, terminal)
      assertSound(store.url, found, REMEDY)
    })
}
