import type { Command } from 'commander'
import { type Mover, refreshPointer, rollBack } from '#static-build/move-pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { assertClock } from '../assert-clock.ts'
import { assertSignedHead } from '../assert-signed-head.ts'
import { followPointer } from '../follow-pointer.ts'
import { readSigner } from '../signing.ts'
import { addSigningOptions, type SigningConsent, type SigningOptions, toConsent } from '../signing-options.ts'
import { withStoreLock } from '../store-lock.ts'
import { addStoreOptions, openPublicStore, type StoreOptions, storeUrls } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'

type Options = StoreOptions & SigningOptions & { readonly json?: boolean }

type RefreshOptions = Options & { readonly vouchForHead?: boolean }

/** `highwater rollback V`: serves an older version again. */
export function defineRollback(command: Command, surroundings: Surroundings): void {
  addSigningOptions(addStoreOptions(command))
    .argument('<version>', 'a published version, as `highwater versions` lists them')
    .option('--json', 'print the new pointer entry as one JSON document')
    .addHelpText('after', '\nExample:\n  highwater rollback 2026-11-20T00:15:00Z')
    .action((version: string, options: Options) =>
      movePointer(options, toConsent(options), surroundings, (store, mover) =>
        rollBack(store, version, mover),
      ),
    )
}

const REFRESH_EXAMPLES = `
Examples:
  highwater refresh --store file:///var/lib/highwater
  highwater refresh --vouch-for-head`

/** `highwater refresh`: the served version stays, and its pointer entry gets a new date of expiry. */
export function defineRefresh(command: Command, surroundings: Surroundings): void {
  addSigningOptions(addStoreOptions(command))
    .option('--vouch-for-head', 'confirm a newest entry whose signature is wrong or missing: you wrote it')
    .option('--json', 'print the new pointer entry as one JSON document')
    .addHelpText('after', REFRESH_EXAMPLES)
    .action((options: RefreshOptions) =>
      movePointer(options, toConsent(options, options.vouchForHead), surroundings, refreshPointer),
    )
}

/**
 * Appends an entry under the lock of a build: no version is removed while the pointer moves to it, and of the list of
 * public keys there is one writer.
 */
async function movePointer(
  options: Options,
  consent: SigningConsent,
  surroundings: Surroundings,
  move: (store: ObjectStore, mover: Mover) => Promise<LoggedEntry>,
): Promise<void> {
  const signer = await readSigner(surroundings.env)
  const store = await openPublicStore(options, surroundings)
  const terminal = surroundings.terminal
  const moved = await withStoreLock(store, surroundings, terminal, async () => {
    const nowMs = surroundings.now()
    await assertClock(store, nowMs)
    await assertSignedHead(store, signer, consent)
    return move(store, { nowMs, signer })
  })
  await conclude(moved, options, surroundings)
}

async function conclude({ entry }: LoggedEntry, options: Options, surroundings: Surroundings): Promise<void> {
  const { json = false } = options
  const out = surroundings.terminal
  if (json) out.json(entry)
  else
    out.print(`entry ${entry.seq}: ${entry.version} is served, until ${entry.expires} without another entry`)
  await followPointer(storeUrls(options, surroundings), surroundings, out)
}
