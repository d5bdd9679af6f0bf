import type { Changes, StrategyChanges } from '#core/contract/payloads/changes.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { isRestated } from '#core/dataset/restated.ts'
import { counted } from '#pipeline/book/field.ts'
import { type Causes, findCauses, readInputs } from '#static-build/find-causes.ts'
import { assertThere, findPublication } from '#static-build/move-pointer.ts'
import { readPublishedSnapshot } from '#static-build/previous-snapshot.ts'
import { shortened, toText } from '#static-build/restatement.ts'
import { readLog } from '#storage/pointer-log.ts'
import { publicationsOf } from '#storage/publications.ts'
import { define } from '../options/command.ts'
import { flag } from '../options/option.ts'
import { openBothStores, STORE_OPTIONS, type StoreOptions } from '../options/store-option.ts'
import type { Runtime } from '../runtime.ts'

const OPTIONS = { ...STORE_OPTIONS, json: flag('print the changes as one JSON document') }

export const defineDiff = define(
  OPTIONS,
  '\nExample:\n  highwater diff 2026-11-20T00:15:00Z 2026-11-21T00:15:00Z',
  async (options, runtime, before = '', after = '') => {
    const changes = await compare(before, after, options, runtime)
    const { terminal } = runtime
    if (options.json) terminal.json(changes)
    else for (const line of linesOf(changes)) terminal.print(line)
  },
  { '<before>': 'a published version, as listed by `highwater versions`', '<after>': 'a later one' },
)

/** The changes, and for each restated strategy what differs in its inputs; `causes` is empty if these are not known. */
async function compare(
  before: string,
  after: string,
  options: StoreOptions,
  runtime: Runtime,
): Promise<Changes & { readonly causes: Readonly<Record<string, Causes>> }> {
  const { store, privateStore } = await openBothStores(options, runtime)
  const publications = publicationsOf(await readLog(store))
  const read = async (version: string) => {
    const publication = findPublication(store, publications, version)
    await assertThere(store, version)
    const snapshot = await readPublishedSnapshot(store, privateStore, publication)
    return { snapshot, inputs: await readInputs(store, privateStore, publication) }
  }
  const [old, now] = [await read(before), await read(after)]
  const changes = compareSnapshots(old.snapshot, now.snapshot)
  if (old.inputs === null || now.inputs === null) return { ...changes, causes: {} }
  const instruments = new Map(now.snapshot.strategies.map(({ id, instrument }) => [id, instrument]))
  const causes = changes.strategies
    .filter(isRestated)
    .map(each => [each.id, findCauses(old.inputs!, now.inputs!, each, instruments.get(each.id)!)] as const)
  return { ...changes, causes: Object.fromEntries(causes) }
}

const linesOf = ({
  definitions = [],
  strategies,
  causes,
  ...changes
}: Awaited<ReturnType<typeof compare>>): string[] => [
  `${changes.previous} -> ${changes.version}: ${changes.history_restated ? 'history is restated' : 'history is only appended to'}`,
  ...definitions.map(({ figure, from, to }) => `${figure}: ${from} -> ${to}`),
  ...(changes.filled_gaps ?? []).map(({ of, from, to }) => `${of}: the gap from ${from} to ${to} is filled`),
  ...(changes.dataset ?? []).map(({ field, old, new: now }) => `${field}: ${toText(old)} -> ${toText(now)}`),
  ...changes.added.map(id => `${id}: new`),
  ...changes.removed.map(id => `${id}: gone`),
  ...strategies.flatMap(each => [lineOf(each), ...causeLines(causes[each.id])]),
]

/** What differs in the inputs of a restated strategy. */
const causeLines = (causes: Causes | undefined): string[] =>
  Object.entries(causes ?? {})
    .filter(([, what]) => what.length > 0)
    .map(([kind, what]) => `  ${kind} differ${kind === 'code' ? 's' : ''}: ${what.join(', ')}`)

const lineOf = ({ id, daily, trades, catalogue }: StrategyChanges): string =>
  [
    `${id}: ${daily.appended === null ? 'no new day' : `days to ${daily.appended.to} (+${daily.appended.n})`}`,
    counted(trades.appended, 'new trade'),
    ...shortened(
      'days',
      daily.restated.map(({ t, old, new: now }) => `${t}: ${toText(old)} -> ${toText(now)}`),
      daily.restated_count,
    ),
    ...(trades.restated_count > 0 ? [`${counted(trades.restated_count, 'trade')} restated`] : []),
    ...catalogue.map(({ field }) => `${field} changed`),
  ].join(', ')
