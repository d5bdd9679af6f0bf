import type { Command } from 'commander'
import { type Mover, refreshPointer, rollBack } from '#static-build/move-pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { assertClock } from '../assert-clock.ts'
import { followPointer } from '../follow-pointer.ts'
import { readSigner } from '../signing.ts'
import { withStoreLock } from '../store-lock.ts'
import { addStoreOptions, openPublicStore, type StoreOptions, storeUrls } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'

type Options = StoreOptions & { readonly json?: boolean }

/** `highwater rollback V`: serves an older version again. */
export function addRollback(program: Command, surroundings: Surroundings): void {
  addStoreOptions(program.command('rollback').description('serve an older version again; nothing is deleted'))
    .argument('<version>', 'a published version, as `highwater versions` lists them')
    .option('--json', 'print the new pointer entry as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater rollback 2026-11-20T00:15:00Z')
    .action(async (version: string, options: Options) => {
      const store = await openPublicStore(options, surroundings)
      const mover = await moverOf(store, surroundings)
      // A version must not be removed while the pointer moves to it.
      const terminal = surroundings.terminal(options.json ?? false)
      const move = () => rollBack(store, version, mover)
      const moved = await withStoreLock(store, surroundings, terminal, move)
      await conclude(moved, options, surroundings)
    })
}

/** `highwater refresh`: the served version stays, and its pointer entry gets a new date of expiry. */
export function addRefresh(program: Command, surroundings: Surroundings): void {
  addStoreOptions(
    program.command('refresh').description('confirm the served version anew, when a night published none'),
  )
    .option('--json', 'print the new pointer entry as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater refresh --store file:///var/lib/highwater')
    .action(async (options: Options) => {
      const store = await openPublicStore(options, surroundings)
      const moved = await refreshPointer(store, await moverOf(store, surroundings))
      await conclude(moved, options, surroundings)
    })
}

async function moverOf(store: ObjectStore, { env, now }: Surroundings): Promise<Mover> {
  const mover = { nowMs: now(), signer: await readSigner(env) }
  await assertClock(store, mover.nowMs)
  return mover
}

async function conclude({ entry }: LoggedEntry, options: Options, surroundings: Surroundings): Promise<void> {
  const { json = false } = options
  const out = surroundings.terminal(json)
  if (json) out.json(entry)
  else
    out.print(`entry ${entry.seq}: ${entry.version} is served, until ${entry.expires} without another entry`)
  await followPointer(storeUrls(options, surroundings), surroundings, out)
}
