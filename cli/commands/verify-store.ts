import type { Command } from 'commander'
import { type Fault, findFaults, objectCount } from '#static-build/verify-version.ts'
import { readLog } from '#storage/pointer-log.ts'
import { publicationsOf } from '#storage/publications.ts'
import { readManifest } from '#storage/published-manifest.ts'
import { addStoreOptions, openPublicStore, type StoreOptions } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'

type Report = { readonly version: string; readonly objects: number; readonly faults: readonly Fault[] }

const EXAMPLES = `
Examples:
  highwater verify-store --store file:///var/lib/highwater
  highwater verify-store --json`

/** `highwater verify-store`: the chain of the log, and every digest of every version. Exit code 1 where one is wrong. */
export function addVerifyStore(program: Command, surroundings: Surroundings): void {
  addStoreOptions(program.command('verify-store').description('hold every published object to its digest'))
    .option('--json', 'print the findings as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (options: StoreOptions & { readonly json?: boolean }) => {
      const terminal = surroundings.terminal(options.json ?? false)
      const store = await openPublicStore(options, surroundings)
      const reports: Report[] = []
      for (const publication of publicationsOf(await readLog(store))) {
        const { version } = publication
        const published = await readManifest(store, publication)
        const faults = await findFaults(store, published, terminal.progress)
        reports.push({ version, objects: objectCount(published), faults })
      }
      if (options.json) terminal.json(reports)
      else for (const report of reports) terminal.print(lineOf(report))
      assertSound(reports, store.url)
    })
}

const lineOf = ({ version, objects, faults }: Report): string =>
  faults.length === 0 ? `${version}  ${objects} objects, all as published` : `${version}  ${describe(faults)}`

const describe = (faults: readonly Fault[]): string =>
  faults.map(({ key, what }) => `${key} is ${what}`).join(', ')

function assertSound(reports: readonly Report[], url: string): void {
  const count = reports.reduce((sum, { faults }) => sum + faults.length, 0)
  if (count === 0) return
  throw new Error(
    `${url}: ${count} object(s) are missing or altered; their answers are computed meanwhile: restore them from a copy, ` +
      'or build the version again with the same book and code',
  )
}
