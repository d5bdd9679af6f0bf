import type { Command } from 'commander'
import { readLog } from '#storage/pointer-log.ts'
import { publicationsOf } from '#storage/publications.ts'
import { type ListedPublication, markRemoved } from '#storage/removed-versions.ts'
import { addStoreOptions, openPublicStore, type StoreOptions } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'

const EXAMPLES = `
Examples:
  highwater versions --store file:///var/lib/highwater
  highwater versions --json`

/** `highwater versions`: what was published, newest first. */
export function defineVersions(command: Command, surroundings: Surroundings): void {
  addStoreOptions(command)
    .option('--json', 'print them as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (options: StoreOptions & { readonly json?: boolean }) => {
      const terminal = surroundings.terminal
      const store = await openPublicStore(options, surroundings)
      const versions = await markRemoved(store, publicationsOf(await readLog(store)))
      if (options.json) terminal.json(versions)
      else if (versions.length === 0) terminal.note(`nothing is published in ${store.url}`)
      else for (const version of versions) terminal.print(lineOf(version))
    })
}

const lineOf = ({ version, published, manifest_sha256, ...is }: ListedPublication): string =>
  [
    version,
    `published ${published}`,
    `sha256 ${manifest_sha256.slice(0, 16)}`,
    ...(is.is_served ? ['served'] : []),
    ...(is.is_removed ? ['removed'] : []),
    ...(is.history_restated ? ['restated history'] : []),
  ].join('  ')
