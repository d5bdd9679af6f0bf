// The script of the page on checking: manifest, log, signatures and files, with what a browser has.
import type { PublicKeys } from '#core/contract/file-routes.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import type { CurrentHint, PointerEntry } from '#core/contract/pointer.ts'
import { sortedNumber } from '#core/contract/sorted-number.ts'
import { one, sentenceOf, startPage } from './dom.ts'

type Bytes = Uint8Array<ArrayBuffer>
type File = { readonly path: string; readonly bytes: Bytes; readonly sha256: string }

/** The keys of the store begin here, as seen from the folder of a version. */
const STORE = '../../../'
const LOG = `${STORE}v1/pointer/`

const STATES = { ok: 'Passed', failed: 'Failed', open: 'Not checked' } as const

/** Why a step could not be made; any other error fails it. The messages of both are for the reader. */
class NotChecked extends Error {}

/** A file as it is served now, past the caches of the browser; null if there is none. */
async function find(path: string): Promise<File | null> {
  const response = await fetch(path, { cache: 'no-store' }).catch(() => null)
  if (response?.status === 404) return null
  if (!response?.ok) {
    const why = response === null ? 'there is no answer' : `the answer is ${response.status}`
    throw new NotChecked(`${path} cannot be loaded: ${why}. Try again later.`)
  }
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { path, bytes, sha256: await digestOf(bytes) }
}

async function read(path: string): Promise<File> {
  const file = await find(path)
  if (file === null) throw new Error(`${path} is missing.`)
  return file
}

const digestOf = async (bytes: Bytes): Promise<string> =>
  Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** What the file holds, if it is what its digest promises; a step that meets anything else fails. */
function parse<T>({ path, bytes }: File): T {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as T // of the documented form, or a later comparison fails
  } catch {
    throw new Error(`${path} is damaged: it is no JSON.`)
  }
}

/** The newest entry of the log and the one that names the manifest, with the chain between them. */
async function checkLog(manifest: File, version: string) {
  const { seq: newest } = parse<CurrentHint>(await read(`${STORE}v1/current.json`))
  const head = await read(`${LOG}${sortedNumber(newest)}.json`)
  let [file, entry] = [head, parse<PointerEntry>(head)]
  while (entry.version !== version) {
    if (entry.prev_entry_sha256 === null) throw new Error(`No entry of the log names ${version}.`)
    const before = await read(`${LOG}${sortedNumber(entry.seq - 1)}.json`)
    if (before.sha256 !== entry.prev_entry_sha256) {
      throw new Error(`${before.path} is not the entry that the next one continues.`)
    }
    ;[file, entry] = [before, parse<PointerEntry>(before)]
  }
  if (entry.manifest_sha256 !== manifest.sha256) {
    throw new Error(`manifest.json is not the one that ${file.path} names: it was changed.`)
  }
  const later = newest - entry.seq
  const chain = later === 0 ? 'It is the newest one.' : `The log continues without a gap to entry ${newest}.`
  return { head, sentence: `Entry ${entry.seq} of the log, of ${entry.at}, names this manifest. ${chain}` }
}

async function checkSignatures(manifest: File, head: File): Promise<string> {
  const list = (await find(`${STORE}.well-known/highwater-keys.json`)) ?? (await find(`${STORE}v1/keys.json`))
  if (list === null)
    throw new NotChecked(
      'There is no list of keys here: the service does not sign, or this is a copy without it.',
    )
  const keys = await Promise.all(
    parse<PublicKeys>(list).keys.map(({ public_key_pem }) => importKey(public_key_pem)),
  )
  const fingerprints: string[] = []
  for (const [signed, path] of [
    [manifest, 'manifest.json.sig'],
    [head, `${LOG}signatures/${head.sha256}.sig`],
  ] as const) {
    const { bytes } = await read(path)
    const valid = await Promise.all(
      keys.map(({ key }) => crypto.subtle.verify('Ed25519', key, bytes, signed.bytes)),
    )
    const signer = keys[valid.indexOf(true)]
    if (signer === undefined) throw new Error(`No published key made ${path}.`)
    fingerprints.push(signer.fingerprint)
  }
  return `Manifest and newest entry are signed. Compare the fingerprint of the key with what the publisher states elsewhere: ${[...new Set(fingerprints)].join(', ')}`
}

async function importKey(pem: string): Promise<{ readonly key: CryptoKey; readonly fingerprint: string }> {
  try {
    const der = Uint8Array.from(atob(pem.replaceAll(/-----.*?-----|\s/g, '')), char => char.charCodeAt(0))
    const key = await crypto.subtle.importKey('spki', der, 'Ed25519', true, ['verify'])
    return { key, fingerprint: await digestOf(der) }
  } catch {
    throw new NotChecked(
      'This browser does not know Ed25519, or the key is damaged. Use a newer browser or the commands below.',
    )
  }
}

/** The files of a strategy, or those of the version that belong to none. */
async function checkFiles({ artifacts }: Manifest, sid: string): Promise<string> {
  const folder = `strategies/${sid}/`
  let bytes = 0
  const own = artifacts
    .map(artifact => ({ ...artifact, path: artifact.key.split('/').slice(3).join('/') }))
    .filter(({ path }) => (sid === '' ? !path.startsWith('strategies/') : path.startsWith(folder)))
  for (const { path, sha256 } of own) {
    const file = await read(path)
    if (file.sha256 !== sha256) throw new Error(`${path} is not the file that was published.`)
    bytes += file.bytes.length
  }
  return `${own.length} files, ${Math.ceil(bytes / 1000)} kB, are as published.`
}

function report(state: keyof typeof STATES, step: string, sentence: string): void {
  const item = document.createElement('li')
  item.className = `finding ${state}`
  const mark = document.createElement('strong')
  mark.textContent = `${STATES[state]}: ${step}. `
  item.append(mark, sentence)
  one('#findings').append(item)
}

/** Runs a step and reports it; null if it did not pass. */
async function step<T>(name: string, run: () => Promise<readonly [T, string]>): Promise<T | null> {
  try {
    const [result, sentence] = await run()
    report('ok', name, sentence)
    return result
  } catch (error) {
    report(error instanceof NotChecked ? 'open' : 'failed', name, sentenceOf(error))
    return null
  }
}

/** Each step needs the one before it: without a proven manifest no file proves anything. */
async function check(sid: string): Promise<void> {
  one('#findings').replaceChildren()
  if (window.crypto.subtle === undefined) {
    return report('open', 'Browser', 'It computes digests on pages over https only. Use the commands below.')
  }
  const manifest = await step('Manifest', async () => {
    const file = await read('manifest.json')
    return [file, `Its SHA-256 is ${file.sha256}.`]
  })
  if (manifest === null) return
  const head = await step('Log', async () => {
    const log = await checkLog(manifest, document.body.dataset.version ?? '')
    return [log.head, log.sentence]
  })
  if (head === null) return
  await step('Signatures', async () => [true, await checkSignatures(manifest, head)])
  await step('Files', async () => [true, await checkFiles(parse<Manifest>(manifest), sid)])
}

startPage()
const form = one<HTMLFormElement>('#check')
const files = one<HTMLSelectElement>('#check select')
const asked = new URLSearchParams(location.search).get('of') ?? ''
if ([...files.options].some(({ value }) => value === asked)) files.value = asked
form.addEventListener('submit', async event => {
  event.preventDefault()
  const button = one<HTMLButtonElement>('#check button')
  button.disabled = true
  await check(files.value)
  button.disabled = false
})
