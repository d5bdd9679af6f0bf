import type { Command } from 'commander'
import { refreshPointer, rollBack } from '#static-build/move-pointer.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { readSigner } from '../signing.ts'
import { addStoreOptions, openPublicStore, type StoreOptions } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Terminal } from '../terminal.ts'

type Options = StoreOptions & { readonly json?: boolean }

/** `highwater rollback V`: serves an older version again. */
export function addRollback(program: Command, surroundings: Surroundings): void {
  addStoreOptions(program.command('rollback').description('serve an older version again; nothing is deleted'))
    .argument('<version>', 'a published version, as `highwater versions` lists them')
    .option('--json', 'print the new pointer entry as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater rollback 2026-11-20T00:15:00Z')
    .action(async (version: string, options: Options) => {
      const store = await openPublicStore(options, surroundings)
      tell(await rollBack(store, version, await moverOf(surroundings)), options, surroundings)
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
      tell(await refreshPointer(store, await moverOf(surroundings)), options, surroundings)
    })
}

const moverOf = async ({ env, now }: Surroundings) => ({ nowMs: now(), signer: await readSigner(env) })

function tell({ entry }: LoggedEntry, { json = false }: Options, { terminal }: Surroundings): void {
  const out: Terminal = terminal(json)
  if (json) out.json(entry)
  else
    out.print(`entry ${entry.seq}: ${entry.version} is served, until ${entry.expires} without another entry`)
}
