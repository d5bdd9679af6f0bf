import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Command } from 'commander'
import { toIsoInstant } from '#core/calendar.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { POINTER_PREFIX, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { acquireLock, type Lock } from '#storage/lock.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { isAlive } from '#storage/open-store.ts'
import { type LoggedEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { readKeys } from '#storage/public-keys.ts'
import { createSigner, isSignedBy, type Signer } from '#storage/signature.ts'
import type { Runtime } from './runtime.ts'
import type { Terminal } from './terminal.ts'

/**
 * Who signs an entry vouches for the chain that ends in it. So whoever moves the pointer looks first at the entry that
 * it follows, and at its own key: a signature that no published key made, one that is missing although older entries have
 * theirs, a key that nobody has seen, and no key at all where the newest entry is signed are each refused, unless the
 * operator said so. To be called under the lock of the store, before anything is written.
 */
export async function assertSignedHead(
  store: ObjectStore,
  signer: Signer | null,
  consent: SigningConsent,
): Promise<void> {
  const log = await readLog(store)
  const head = log.at(-1)
  if (signer === null) {
    if (head !== undefined && !consent.allowUnsigned) await assertUnsigned(store, head)
    return
  }
  const keys = await readKeys(store)
  const isKnown = keys.length === 0 || keys.some(({ id }) => id === signer.keyId)
  if (!isKnown && !consent.allowNewKey) throw new Error(unknownKey(store, signer, keys))
  if (head === undefined || consent.vouchForHead) return
  const pems = [signer.publicKeyPem, ...keys.map(key => key.public_key_pem)]
  const fault = await faultOf(store, log, head, pems)
  if (fault !== null) throw new Error(notVouchedFor(store, head, fault))
}

/** A job that lost its environment would end the signatures of a log without anybody noticing. */
async function assertUnsigned(store: ObjectStore, { entry, sha256 }: LoggedEntry): Promise<void> {
  if ((await store.read(signatureKey(sha256))) === null) return
  throw new Error(
    `${nameOf(store, entry.seq)} is signed, and SIGNING_KEY_FILE is not set: nothing was published; set it to the file of ` +
      'the key, or publish without signatures with --allow-unsigned, which fails the verification of every subscriber',
  )
}

/** What is wrong with the signature of the newest entry; null where nothing is. */
async function faultOf(
  store: ObjectStore,
  log: readonly LoggedEntry[],
  { entry, sha256 }: LoggedEntry,
  pems: readonly string[],
): Promise<string | null> {
  const signature = await store.read(signatureKey(sha256))
  if (signature === null) {
    return (await isAnySigned(store, log)) ? 'has no signature, but older entries have one' : null
  }
  const bytes = await store.read(pointerKey(entry.seq))
  const isSigned = bytes !== null && pems.some(pem => isSignedBy(pem, bytes, signature))
  return isSigned ? null : 'has a signature that matches none of the published keys'
}

async function isAnySigned(store: ObjectStore, log: readonly LoggedEntry[]): Promise<boolean> {
  const signatures = new Set(await store.list(`${POINTER_PREFIX}signatures/`))
  return log.some(({ sha256 }) => signatures.has(signatureKey(sha256)))
}

const nameOf = (store: ObjectStore, seq: number): string => `${store.url}/${pointerKey(seq)}`

const unknownKey = (
  store: ObjectStore,
  { keyId }: Signer,
  keys: readonly { readonly id: string }[],
): string =>
  `the key ${keyId} of SIGNING_KEY_FILE is not one of those in ${store.url}/${KEYS_KEY} ` +
  `(${keys.map(({ id }) => id).join(', ')}): nothing was published; name the right file, or publish the key with ` +
  '--new-key, and send its fingerprint to subscribers'

const notVouchedFor = (store: ObjectStore, { entry }: LoggedEntry, what: string): string =>
  `${nameOf(store, entry.seq)} (${entry.action} ${entry.version}) ${what}: nothing was published; find out where it comes ` +
  'from; restore its signature from a copy, accept it with `highwater refresh --vouch-for-head` if it is yours, or remove ' +
  `it from ${POINTER_PREFIX} if it is not`

/**
 * The log tells what was served when, so its times never go backwards: an entry that is written by a clock that was set
 * back would claim a time before the entry that it follows, and expire before it should.
 */
export async function assertClock(store: ObjectStore, nowMs: number): Promise<void> {
  const head = await readHead(store)
  if (head === null) return
  const { seq, at } = head.entry
  const now = toIsoInstant(nowMs)
  if (now >= at) return
  throw new Error(
    `the clock of this machine is at ${now}, and the newest pointer entry, ${store.url}/${pointerKey(seq)}, is ` +
      `from ${at}: nothing was published; set the clock, and run the command again`,
  )
}

/** How far a version may be ahead of the clock: a build may be named after the night that it is for. */
const MOST_AHEAD_MS = 24 * 3_600_000

/** A version of the far future would stand in the way of every build until its time has come. */
export function assertNotAhead(version: string, nowMs: number): void {
  if (version <= toIsoInstant(nowMs + MOST_AHEAD_MS)) return
  throw new Error(
    `--version: ${version} is more than ${MOST_AHEAD_MS / 3_600_000} hours ahead of the clock of this machine ` +
      `(${toIsoInstant(nowMs)}): nothing was published; use an earlier one, or set the clock`,
  )
}

/**
 * Runs something under the lock of the public store, because that is where the pointer is: one process at a time moves
 * it or removes what it names. Another `name` is another lock.
 */
export async function withStoreLock<Result>(
  store: ObjectStore,
  { now, terminal }: Runtime,
  run: (lock: Lock) => Promise<Result>,
  name = 'build',
): Promise<Result> {
  const lock = await acquireLock(store, name, {
    holder: { pid: process.pid, host: hostname(), started: toIsoInstant(now()) },
    now,
    isAlive,
  })
  try {
    return await run(lock)
  } finally {
    await release(lock, terminal)
  }
}

/** How the work ended matters more than a lock that was not given back: the next one takes it over. */
async function release(lock: Lock, terminal: Terminal): Promise<void> {
  try {
    await lock.release()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    terminal.note(`warning: the lock was not released; the next build takes it over: ${reason}`)
  }
}

/** The signer whose private key lies in the file that SIGNING_KEY_FILE names; null where none is named. */
export async function readSigner(env: NodeJS.ProcessEnv): Promise<Signer | null> {
  const path = env.SIGNING_KEY_FILE || null
  if (path === null) return null
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(
      `cannot read the signing key ${path} of SIGNING_KEY_FILE: create one with \`highwater keys new ${path}\``,
      { cause },
    )
  })
  return createSigner(pem)
}

/** What an operator said about signatures on the command line: each is refused where nobody said it. */
export type SigningConsent = {
  /** Going on without signatures where the newest entry has one. */
  readonly allowUnsigned: boolean
  /** Publishing another key than those that are published. */
  readonly allowNewKey: boolean
  /** Following a newest entry whose signature is wrong or missing, because the operator knows who wrote it. */
  readonly vouchForHead: boolean
}

export type SigningOptions = { readonly allowUnsigned?: boolean; readonly newKey?: boolean }

export const NO_CONSENT: SigningConsent = { allowUnsigned: false, allowNewKey: false, vouchForHead: false }

/** `--allow-unsigned` and `--new-key`, as every command that moves the pointer has them. */
export const addSigningOptions = (command: Command): Command =>
  command
    .option('--allow-unsigned', 'publish without a signature although the newest entry has one')
    .option('--new-key', 'publish the key of SIGNING_KEY_FILE in addition to the published keys')

export const toConsent = (
  { allowUnsigned = false, newKey = false }: SigningOptions,
  vouchForHead = false,
): SigningConsent => ({ allowUnsigned, allowNewKey: newKey, vouchForHead })
