// What is published, checked from its log down to the last file, as docs/verifying.md does it by hand.
import { HighwaterError } from './highwater-error.ts'
import { type CallOptions, fromBase64, sha256, type Transport, textOf, toHex } from './requests.ts'

const AT_ONCE = 8 // concurrent requests
const SKEW_MS = 300_000 // clocks that are kept in step differ by less

export type VerifyBookOptions = CallOptions & {
  /** The public key of the publisher, a PEM text; without it the keys that the service publishes are trusted. */
  readonly key?: string
  /** Accepts data that nobody signed: only checksums are checked then. */
  readonly allowUnsigned?: boolean
}

type Bytes = Uint8Array<ArrayBuffer>
type Find = (path: string) => Promise<Bytes | null>
type Texts<Name extends string> = Readonly<Record<Name, string>>
type Entry = Texts<'version' | 'manifest_sha256' | 'at' | 'expires'> & {
  readonly seq: number
  readonly prev_entry_sha256: string | null
}
type Manifest = { readonly artifacts: Texts<'url' | 'sha256'>[]; readonly documents: Texts<string> }

/** What was checked of the version below `root`, in sentences. Throws `not_verified` with the faults in `details`. */
export async function audit(service: Transport, version: string, root: string, options: VerifyBookOptions) {
  const find: Find = path => service.request(path, options).then(({ bytes }) => bytes, nullIfMissing)
  const { key, allowUnsigned = false, signal } = options
  try {
    const keys = key === undefined ? await publishedKeys(find, allowUnsigned) : [key]
    const log = await readLog(find)
    const newest = log.at(-1)!
    checkTime(newest.entry)
    await checkSignature(find, keys, newest.content, `/v1/pointer/signatures/${newest.digest}.sig`)
    const manifest = await get(find, `${root}manifest.json`)
    const named = log.filter(({ entry }) => entry.version === version)
    const digest = await digestOf(manifest)
    if (named.length === 0 || named.some(({ entry }) => entry.manifest_sha256 !== digest))
      fail([`the manifest of ${version} is not the one that the log names`])
    await checkSignature(find, keys, manifest, `${root}manifest.json.sig`)
    const files = digestsOf(fromJson<Manifest>(manifest), root)
    const faults = await eachOf(files, async ([path, digest]) => {
      const content = await find(path)
      if (content === null) return `${path} is missing`
      if ((await digestOf(content)) !== digest) return `${path} is altered`
      const kept = service.cache.get(path)?.text ?? textOf(content)
      return kept === textOf(content) ? [] : `${path} is altered in the cache: open the book again`
    })
    if (faults.flat().length > 0) fail(faults.flat())
    return [
      `log: ${log.length} entries without a gap, the newest of ${newest.entry.at} with the digest ${newest.digest}`,
      `signatures: ${keys === null ? 'nothing is signed' : 'of the newest entry and of the manifest'}`,
      `files: ${files.length} files of version ${version} as published`,
    ]
  } catch (error) {
    if (error instanceof HighwaterError || signal?.aborted) throw error
    if (globalThis.crypto?.subtle && (error as Error).name !== 'NotSupportedError')
      return fail([`a published document has another form: ${error}`])
    const message = 'verifying needs Ed25519 of Web Crypto: use a newer runtime, and HTTPS in a page'
    throw new HighwaterError('cryptography_missing', message)
  }
}

function fail(faults: readonly string[]): never {
  throw new HighwaterError('not_verified', faults.slice(0, 3).join('; '), null, faults)
}

export function nullIfMissing(error: HighwaterError): null {
  if (error.status === 404 || error.status === 410) return null
  throw error
}

const digestOf = async (bytes: Bytes) => toHex(await sha256(bytes))

const get = async (find: Find, path: string) => (await find(path)) ?? fail([`${path} is missing`])

const fromJson = <Document>(bytes: Bytes) => JSON.parse(textOf(bytes)) as Document // another form throws where it is read

/** What `act` gives for each item, in their order, with so many at once. */
async function eachOf<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>) {
  const results: Result[] = []
  for (let i = 0; i < items.length; i += AT_ONCE)
    results.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(act))))
  return results
}

async function publishedKeys(find: Find, allowUnsigned: boolean): Promise<string[] | null> {
  const found = await find('/.well-known/highwater-keys.json')
  if (found) return fromJson<{ keys: Texts<'public_key_pem'>[] }>(found).keys.map(each => each.public_key_pem)
  if (allowUnsigned) return null
  return fail(['nothing is signed: verify({ allowUnsigned: true }) checks checksums only'])
}

/** The entries 1, 2, 3 and so on until one is missing, each with the digest of the one before. */
async function readLog(find: Find) {
  const found: (Bytes | null)[] = []
  while (!found.includes(null)) {
    const next = Array.from({ length: AT_ONCE }, (_, i) => String(found.length + 1 + i).padStart(10, '0'))
    found.push(...(await eachOf(next, seq => find(`/v1/pointer/${seq}.json`))))
  }
  const entries = found.filter(bytes => bytes !== null)
  const [gap, current] = [found.indexOf(null), fromJson<Entry>(await get(find, '/v1/current.json'))]
  if (!(gap >= Math.max(entries.length, current.seq)))
    fail([`entry ${gap + 1} of the log is missing: entries were lost or are withheld`])
  let before: string | null = null
  const log = []
  for (const [i, content] of entries.entries()) {
    const entry = fromJson<Entry>(content)
    if (entry.seq !== i + 1 || entry.prev_entry_sha256 !== before)
      fail([`entry ${i + 1} of the log does not continue the entry before it: one of the two was altered`])
    before = await digestOf(content)
    log.push({ content, entry, digest: before })
  }
  return log
}

function checkTime({ at, expires }: Entry): void {
  if (!(Date.parse(at) <= Date.now() + SKEW_MS))
    fail([`the newest entry of the log was written at ${at}, later than it is: is the clock right?`])
  if (!(Date.now() < Date.parse(expires)))
    fail([`the newest entry of the log expired at ${expires}: it does not prove what is served now`])
}

async function checkSignature(find: Find, keys: readonly string[] | null, content: Bytes, path: string) {
  if (keys === null) return
  const signature = await get(find, path)
  for (const pem of keys) if (await isSignedBy(pem, content, signature)) return
  fail([`${path} is no signature of a trusted key`])
}

export async function isSignedBy(pem: string, content: Bytes, signature: Bytes): Promise<boolean> {
  const der = fromBase64(pem.replaceAll(/-----[^-]+-----/g, ''))
  const key = await crypto.subtle.importKey('spki', der, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, signature, content)
}

/** The pinned path of every file of a version, and its digest. */
function digestsOf({ artifacts, documents }: Manifest, root: string) {
  const pin = (url: string) => (url.startsWith(root) ? url : url.replace('/v1/', root))
  const nameOf = (file: string) => root + file.replace('changes.json', 'changes')
  const files = artifacts.map(({ url, sha256 }) => [pin(url), sha256] as const)
  return [...files, ...Object.entries(documents).map(([file, digest]) => [nameOf(file), digest] as const)]
}
