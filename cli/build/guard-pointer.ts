import { readFile } from 'node:fs/promises'
import { toIsoInstant } from '#core/calendar.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { POINTER_PREFIX, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { enteredText, isLongBefore } from '#core/dataset/entered.ts'
import type { Mover } from '#static-build/move-pointer.ts'
import { assertTimely } from '#static-build/publish-version.ts'
import { readEntryTime } from '#static-build/save-private.ts'
import { codeOf, isMissing, messageOf } from '#storage/error-code.ts'
import { acquireLock, holderHere, type Lock } from '#storage/lock.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { isAlive, openStore } from '#storage/open-store.ts'
import { assertAfter, type LoggedEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { createSigner, isSignedBy, readKeys, type Signer } from '#storage/signature.ts'
import type { SigningConsent } from '../options/store-option.ts'
import type { Runtime } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'

/**
 * A signed entry confirms the chain that ends in it. So before the pointer moves, this checks the newest entry and the
 * signer. Unless the operator allows it, it refuses a signature that matches no published key, a signature that is
 * missing although older entries have one, a key that is not published, and no key if the newest entry is signed. To be
 * called under the lock of the store, before anything is written.
 */
export async function assertSignedHead(store: ObjectStore, signer: Signer | null, consent: SigningConsent) {
  const log = await readLog(store)
  const head = log.at(-1)
  if (signer === null) {
    if (head !== undefined && !consent.allowUnsigned) await assertUnsigned(store, head)
    return
  }
  const keys = await readKeys(store)
  const isKnown = keys.length === 0 || keys.some(({ id }) => id === signer.keyId)
  if (!isKnown && !consent.newKey)
    throw new Error(
      `the key ${signer.keyId} of SIGNING_KEY_FILE is not one of those in ${store.url}/${KEYS_KEY} ` +
        `(${keys.map(({ id }) => id).join(', ')}): nothing was published; name the right file, or publish the key with ` +
        '--new-key, and send its fingerprint to subscribers',
    )
  if (head === undefined || consent.vouchForHead) return
  const pems = [signer.publicKeyPem, ...keys.map(key => key.public_key_pem)]
  const fault = await faultOf(store, log, head, pems)
  if (fault === null) return
  const { seq, action, version } = head.entry
  throw new Error(
    `${nameOf(store, seq)} (${action} ${version}) ${fault}: nothing was published; find out where it comes ` +
      'from; restore its signature from a copy, accept it with `highwater refresh --vouch-for-head` if it is yours, or remove ' +
      `it from ${POINTER_PREFIX} if it is not`,
  )
}

/** Otherwise a job that lost its environment would end the signatures of a log unnoticed. */
async function assertUnsigned(store: ObjectStore, { entry, sha256 }: LoggedEntry): Promise<void> {
  if ((await store.read(signatureKey(sha256))) === null) return
  throw new Error(
    `${nameOf(store, entry.seq)} is signed, and SIGNING_KEY_FILE is not set: nothing was published; set it to the file of ` +
      'the key, or publish without signatures with --allow-unsigned, which fails the verification of every subscriber',
  )
}

/** What is wrong with the signature of the newest entry; null if nothing is. */
async function faultOf(
  store: ObjectStore,
  log: readonly LoggedEntry[],
  { entry, sha256 }: LoggedEntry,
  pems: readonly string[],
): Promise<string | null> {
  const signature = await store.read(signatureKey(sha256))
  if (signature === null) {
    const signatures = new Set(await store.list(`${POINTER_PREFIX}signatures/`))
    const isAnySigned = log.some(each => signatures.has(signatureKey(each.sha256)))
    return isAnySigned ? 'has no signature, but older entries have one' : null
  }
  const bytes = await store.read(pointerKey(entry.seq))
  const isSigned = bytes !== null && pems.some(pem => isSignedBy(pem, bytes, signature))
  return isSigned ? null : 'has a signature that matches none of the published keys'
}

const nameOf = (store: ObjectStore, seq: number): string => `${store.url}/${pointerKey(seq)}`

/** Refuses a clock that is behind the newest pointer entry, before anything is computed. */
export const assertClock = async (store: ObjectStore, nowMs: number): Promise<void> =>
  assertAfter(store, await readHead(store), toIsoInstant(nowMs))

/** A version in the far future would block every later build until its time. */
export function assertNotAhead(version: string, nowMs: number): void {
  if (!isLongBefore(toIsoInstant(nowMs), version)) return
  throw new Error(
    `--version: ${version} is more than 36 hours ahead of the clock of this machine ` +
      `(${toIsoInstant(nowMs)}): nothing was published; use an earlier one, or set the clock`,
  )
}

/**
 * The start of the build if the name of its version is more than 36 hours older, otherwise null. A build that was killed after
 * it began to write has the start of then, so that it gives the same bytes. Throws if that start is itself too old.
 */
export async function entryTimeOf(
  build: Readonly<{ store: ObjectStore; privateStore: ObjectStore; startMs: number }>,
  version: string,
  { now, terminal }: Runtime,
): Promise<string | null> {
  const begun = await readEntryTime(build.privateStore, version)
  if ((await readLog(build.store)).some(({ entry }) => entry.version === version)) return begun // the same command again
  const start = toIsoInstant(build.startMs)
  const entered = begun ?? (isLongBefore(version, start) ? start : null)
  if (entered === null) return null
  assertTimely({ version, entered }, now())
  terminal.note(
    `note: ${version} is a past time: every page will say that this version was ${enteredText(entered)}`,
  )
  return entered
}

/** Runs a function under the lock `name` of the public store: one process at a time moves the pointer, or removes versions. */
export async function withStoreLock<Result>(
  store: ObjectStore,
  { now, terminal }: Runtime,
  run: (lock: Lock) => Promise<Result>,
  name = 'build',
): Promise<Result> {
  const lock = await acquireLock(store, name, { holder: holderHere(now()), now, isAlive })
  try {
    return await run(lock)
  } finally {
    // The result of the work matters more than a lock that was not released: the next build takes it over.
    await lock.release().catch((error: unknown) => {
      terminal.note(`warning: the lock was not released; the next build takes it over: ${messageOf(error)}`)
    })
  }
}

/** Appends an entry under the lock of a build: no version is removed meanwhile, and the list of public keys has one writer. */
export async function movePointer(
  settings: Environment,
  consent: SigningConsent,
  runtime: Runtime,
  move: (store: ObjectStore, mover: Mover) => Promise<LoggedEntry>,
): Promise<LoggedEntry> {
  const store = await openStore(settings.STORE_URL, settings.s3)
  const signer = await readSigner(settings)
  return withStoreLock(store, runtime, async () => {
    const nowMs = runtime.now()
    await assertClock(store, nowMs)
    await assertSignedHead(store, signer, consent)
    return move(store, { nowMs, signer })
  })
}

/** The signer with the private key in SIGNING_KEY_FILE; null if the variable is not set. */
export async function readSigner({ SIGNING_KEY_FILE: path }: Environment): Promise<Signer | null> {
  if (path === null) return null
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    const fix = isMissing(cause)
      ? `create one with \`highwater keys new ${path}\``
      : 'name a file that the user of this command may read'
    throw new Error(`cannot read the signing key ${path} of SIGNING_KEY_FILE (${codeOf(cause)}): ${fix}`, {
      cause,
    })
  })
  return createSigner(pem)
}
