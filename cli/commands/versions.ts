import { enteredText } from '#core/dataset/entered.ts'
import { refreshPointer, rollBack } from '#static-build/move-pointer.ts'
import { planPrune, prune } from '#static-build/prune.ts'
import { type ListedPublication, markRemoved, publicationsOf, readLog } from '#storage/pointer-log.ts'
import { followPointer } from '../build/follow-pointer.ts'
import { movePointer, withStoreLock } from '../build/guard-pointer.ts'
import { define, flag, type OptionsOf, required } from '../options/command.ts'
import {
  openStores,
  readSettings,
  SIGNING_OPTIONS,
  type SigningConsent,
  STORE_OPTIONS,
} from '../options/store-option.ts'
import type { Runtime } from '../runtime.ts'
import { wholeNumber } from '../settings/text.ts'

const EXAMPLES = `
Examples:
  highwater versions --store file:///var/lib/highwater
  highwater versions --json`

export const defineVersions = define(
  { ...STORE_OPTIONS, json: flag('print them as one JSON document') },
  EXAMPLES,
  async (options, runtime) => {
    const { terminal } = runtime
    const { store } = await openStores(readSettings(options, runtime))
    const versions = await markRemoved(store, publicationsOf(await readLog(store)))
    terminal.result(options.json, versions, versions.map(versionLine))
    if (!options.json && versions.length === 0) terminal.note(`nothing is published in ${store.url}`)
  },
)

const versionLine = ({ version, published, entered, manifest_sha256, ...is }: ListedPublication): string =>
  [
    version,
    `published ${published}`,
    ...(entered === null ? [] : [enteredText(entered)]),
    `sha256 ${manifest_sha256.slice(0, 16)}`,
    ...(is.is_served ? ['served'] : []),
    ...(is.is_removed ? ['removed'] : []),
    ...(is.history_restated ? ['restated history'] : []),
  ].join('  ')

const MOVE_OPTIONS = {
  ...STORE_OPTIONS,
  ...SIGNING_OPTIONS,
  json: flag('print the new pointer entry as one JSON document'),
}

export const defineRollback = define(
  MOVE_OPTIONS,
  '\nExample:\n  highwater rollback 2026-11-20T00:15:00Z',
  (options, runtime, version = '') =>
    moveAndFollow(options, runtime, (store, mover) => rollBack(store, version, mover)),
  { '<version>': 'a published version, as listed by `highwater versions`' },
)

const REFRESH_EXAMPLES = `
Examples:
  highwater refresh --store file:///var/lib/highwater
  highwater refresh --vouch-for-head`

export const defineRefresh = define(
  { ...MOVE_OPTIONS, vouchForHead: flag('accept a newest entry whose signature is wrong or missing') },
  REFRESH_EXAMPLES,
  (options, runtime) => moveAndFollow(options, runtime, refreshPointer),
)

async function moveAndFollow(
  options: OptionsOf<typeof MOVE_OPTIONS> & SigningConsent,
  runtime: Runtime,
  move: Parameters<typeof movePointer>[3],
): Promise<void> {
  const settings = readSettings(options, runtime)
  const { entry } = await movePointer(settings, options, runtime, move)
  const line = `entry ${entry.seq}: ${entry.version} is served, until ${entry.expires} without another entry`
  runtime.terminal.result(options.json, entry, [line])
  await followPointer(settings, runtime)
}

const days = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of days such as 90')

const PRUNE_OPTIONS = {
  ...STORE_OPTIONS,
  keepDays: required('<n>', 'keep versions published in the last n days, and the served one', days),
  keepMonthEnds: flag('also keep the last version of each month'),
  yes: flag('remove them: there is no way back'),
  json: flag('print one JSON document: versions, unfinished, and whether they are_removed'),
}

const PRUNE_EXAMPLES = `
Without --yes it lists what it would remove, and removes nothing.

Examples:
  highwater prune --keep-days 90 --keep-month-ends
  highwater prune --keep-days 90 --keep-month-ends --yes`

export const definePrune = define(PRUNE_OPTIONS, PRUNE_EXAMPLES, async (options, runtime) => {
  const rule = { keepDays: options.keepDays, keepMonthEnds: options.keepMonthEnds ?? false }
  const are_removed = options.yes ?? false
  const terminal = runtime.terminal
  const stores = await openStores(readSettings(options, runtime))
  const plan = are_removed
    ? await withStoreLock(stores.store, runtime, () => prune(stores, rule, runtime.now()))
    : await planPrune(stores, rule, runtime.now())
  const verb = are_removed ? 'removed' : 'would remove'
  const lines = [
    ...plan.versions.map(version => `${verb} ${version}`),
    ...plan.unfinished.map(folder => `${verb} ${folder}, which was never published`),
  ]
  terminal.result(options.json, { ...plan, are_removed }, lines.length === 0 ? ['nothing to remove'] : lines)
  if (!options.json && lines.length > 0 && !are_removed)
    terminal.note(
      'nothing was removed: the same command with --yes removes them, and their addresses answer 410',
    )
})
