import type { Command } from 'commander'
import type { Changes, StrategyChanges } from '#core/contract/payloads/changes.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { assertThere, findPublication } from '#static-build/move-pointer.ts'
import { readPublishedSnapshot } from '#static-build/previous-snapshot.ts'
import { toText } from '#static-build/restatement.ts'
import { readLog } from '#storage/pointer-log.ts'
import { publicationsOf } from '#storage/publications.ts'
import { addStoreOptions, openBothStores, type StoreOptions } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'

type Options = StoreOptions & { readonly json?: boolean }

/** `highwater diff V1 V2`: what the second appends to the first, and what it alters. */
export function defineDiff(command: Command, surroundings: Surroundings): void {
  addStoreOptions(command)
    .argument('<before>', 'a published version, as `highwater versions` lists them')
    .argument('<after>', 'another')
    .option('--json', 'print the changes as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater diff 2026-11-20T00:15:00Z 2026-11-21T00:15:00Z')
    .action(async (before: string, after: string, options: Options) => {
      const changes = await compare(before, after, options, surroundings)
      const terminal = surroundings.terminal
      if (options.json) terminal.json(changes)
      else for (const line of linesOf(changes)) terminal.print(line)
    })
}

async function compare(
  before: string,
  after: string,
  options: Options,
  surroundings: Surroundings,
): Promise<Changes> {
  const { store, privateStore } = await openBothStores(options, surroundings)
  const publications = publicationsOf(await readLog(store))
  const read = async (version: string) => {
    const publication = findPublication(store, publications, version)
    await assertThere(store, version)
    return readPublishedSnapshot(store, privateStore, publication)
  }
  return compareSnapshots(await read(before), await read(after))
}

const linesOf = ({ previous, version, history_restated, added, removed, strategies }: Changes): string[] => [
  `${previous} -> ${version}: ${history_restated ? 'history is restated' : 'history is only appended to'}`,
  ...added.map(id => `${id}: new`),
  ...removed.map(id => `${id}: gone`),
  ...strategies.map(lineOf),
]

const lineOf = ({ id, daily, trades, catalogue }: StrategyChanges): string =>
  [
    `${id}: ${daily.appended === null ? 'no new day' : `days to ${daily.appended.to} (+${daily.appended.n})`}`,
    counted(trades.appended, 'new trade'),
    ...daily.restated.map(({ t, old, new: now }) => `${t}: ${toText(old)} -> ${toText(now)}`),
    ...(trades.restated_count > 0 ? [`${counted(trades.restated_count, 'trade')} restated`] : []),
    ...catalogue.map(({ field }) => `${field} changed`),
  ].join(', ')

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
