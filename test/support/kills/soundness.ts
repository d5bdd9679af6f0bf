// What must hold of a pair of stores at every instant, whatever was killed there: the list of what does not.
import { manifestKey, manifestSignatureKey } from '#core/contract/artifacts.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { publicKeys } from '#core/contract/public-keys.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { type LoggedEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { isSignedBy } from '#storage/signature.ts'
import type { Stores } from '../books/publish-book.ts'
import { faultsOf } from '../stores/stores.ts'

/** The first entry is that of the tests' own first version, which is published without a key. */
const UNSIGNED = 1

/**
 * Every violation, empty where there is none: a gap in the log or a broken chain, times that go backwards, an entry
 * without its signature, a version that the log names and that is not whole, a head that the hint leads past. Where
 * `mayBeGone` an older version may have been removed, manifest first.
 */
export async function violationsIn(stores: Stores, mayBeGone = false): Promise<string[]> {
  const store = await openStore(stores.url, stores.s3)
  const log = await readLog(store)
  const head = await readHead(store)
  const newest = log.at(-1)
  return [
    ...(await faultsOf(stores)),
    ...(head?.sha256 === newest?.sha256 ? [] : [`the hint leads to ${head?.entry.seq}, not ${log.length}`]),
    ...log.flatMap(({ entry }, i) =>
      entry.at < (log[i - 1]?.entry.at ?? '') ? [`entry ${entry.seq} is older than the one before`] : [],
    ),
    ...(await Promise.all(log.map(each => unsignedIn(store, each)))).flat(),
    ...(await Promise.all(log.map(each => lostIn(store, each, mayBeGone && each !== newest)))).flat(),
  ]
}

async function lostIn(store: ObjectStore, { entry }: LoggedEntry, mayBeGone: boolean): Promise<string[]> {
  const bytes = await store.read(manifestKey(entry.version))
  if (bytes === null)
    return mayBeGone ? [] : [`entry ${entry.seq} names ${entry.version}, which has no manifest`]
  return sha256(bytes) === entry.manifest_sha256 ? [] : [`entry ${entry.seq} names another manifest`]
}

async function unsignedIn(store: ObjectStore, { entry, sha256: digest }: LoggedEntry): Promise<string[]> {
  if (entry.seq <= UNSIGNED) return []
  const signed: [string, string][] = [[pointerKey(entry.seq), signatureKey(digest)]]
  if (entry.action === 'publish')
    signed.push([manifestKey(entry.version), manifestSignatureKey(entry.version)])
  const faults = signed.map(async ([key, signature]) =>
    (await isSigned(store, key, signature)) ? [] : [`${key} is not signed`],
  )
  return (await Promise.all(faults)).flat()
}

/** What was removed needs no signature. */
async function isSigned(store: ObjectStore, key: string, signatureAt: string): Promise<boolean> {
  const [bytes, signature, keys] = await Promise.all([key, signatureAt, KEYS_KEY].map(store.read))
  if (bytes == null) return true
  if (signature == null || keys == null) return false
  const [published] = publicKeys.parse(JSON.parse(new TextDecoder().decode(keys))).keys
  return published !== undefined && isSignedBy(published.public_key_pem, bytes, signature)
}
