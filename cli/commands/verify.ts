import { access, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseIsoInstant } from '#core/calendar.ts'
import { parseCompactInstant } from '#core/contract/pins.ts'
import { type Audit, audit } from '#static-build/audit/audit.ts'
import type { Trust, TrustedKey } from '#static-build/audit/audit-signatures.ts'
import { createHttpReader } from '#static-build/audit/reader.ts'
import { messageOf } from '#storage/error-code.ts'
import { parsePublicKey } from '#storage/signature.ts'
import { define, flag, type OptionsOf, option, repeated } from '../options/command.ts'
import { openStores, readSettings, STORE_OPTIONS } from '../options/store-option.ts'
import type { Terminal } from '../print/terminal.ts'
import {
  assertSound,
  auditStore,
  checkLines,
  printAudit,
  toReport,
  versionLines,
} from '../print/verify-report.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { readBy, text } from '../settings/text.ts'

const AUDIT_OPTIONS = {
  tsaCa: option('<file>', 'check the time stamps of the log under this certificate of their authority (PEM)'),
  json: flag('print the findings as one JSON document'),
}

/** Why a file that an option names cannot be read. */
export const unread =
  (what: string) =>
  (cause: unknown): never => {
    throw new Error(`cannot read ${what}: ${messageOf(cause)}`, { cause })
  }

export async function tsaCaOf(
  { tsaCa }: { readonly tsaCa: string | undefined },
  { cwd }: Runtime,
): Promise<string | null> {
  if (tsaCa === undefined) return null
  const path = resolve(cwd, tsaCa)
  await access(path).catch(unread(`the certificates ${path} of --tsa-ca`))
  return path
}

const STORE_EXAMPLES = `
Examples:
  highwater verify-store --store file:///var/lib/highwater
  highwater verify-store --json

Not compared with anything, because nothing that is published or served depends on them alone: lock/ and
nginx/disclaimers/ of the public store, build.json of the private one. Seals are what verify-live checks.`

const STORE_REMEDY =
  'the service computes answers whose files are missing or corrupt; restore the files from a copy, or build the ' +
  'version again with the same book and code'

/** Checks the log, the signatures and every file of every version, and reports everything; the exit code is 1 if something is wrong. */
export const defineVerifyStore = define(
  { ...STORE_OPTIONS, ...AUDIT_OPTIONS },
  STORE_EXAMPLES,
  async (options, runtime) => {
    const stores = await openStores(readSettings(options, runtime))
    const { url } = stores.store
    const found = await auditStore(stores, 'all', runtime, await tsaCaOf(options, runtime))
    const printed = { isJson: options.json, report: toReport(url, found), lines: versionLines(found) }
    printAudit(found, printed, runtime.terminal)
    assertSound(url, found, STORE_REMEDY)
  },
)

const REMOTE_OPTIONS = {
  version: option(
    '<instant>',
    'the version whose files are read (default: the served one)',
    readBy(
      given => (parseIsoInstant(given) === null ? parseCompactInstant(given) : given),
      'an instant such as 2026-11-21T00:15:00Z',
    ),
  ),
  all: flag('read the files of every version'),
  key: repeated('<file>', 'trust only this Ed25519 public key (PEM); may be repeated'),
  keyId: repeated(
    '<digits>',
    'trust only the published key whose SHA-256 begins with these digits; may be repeated',
    // An id has 16 digits; a key that matches fewer can be found by trial.
    text
      .toLowerCase()
      .regex(/^[0-9a-f]{16,64}$/)
      .describe("the 16 digits of a key's id, or up to all 64 of its fingerprint"),
  ),
  allowUnsigned: flag('accept unsigned data; verify checksums only'),
  ...AUDIT_OPTIONS,
}

type Options = OptionsOf<typeof REMOTE_OPTIONS>

const EXAMPLES = `
Examples:
  highwater verify-remote https://data.example.org
  highwater verify-remote https://data.example.org --key publisher.pem
  highwater verify-remote https://data.example.org --key-id 8f1d0c2ab34e5f67 --all
  highwater verify-remote https://data.example.org --version 2026-11-21T00:15:00Z --json`

const REMEDY = 'do not rely on what failed; ask the publisher, or compare it with an earlier copy that passed'

export const defineVerifyRemote = define(REMOTE_OPTIONS, EXAMPLES, verifyRemote, {
  '<url>': 'address of a history service, or of a CDN in front of it',
})

async function verifyRemote(options: Options, runtime: Runtime, address = ''): Promise<void> {
  const url = parseAddress(address)
  const { version, all, allowUnsigned } = options
  if (version !== undefined && all)
    throw new UsageError('--version and --all cannot be combined: give one of them')
  const trust = await readTrust(options, runtime.cwd)
  const { now, terminal } = runtime
  const found = await audit({
    reader: createHttpReader(url),
    trust,
    nowMs: now(),
    versions: version === undefined ? (all ? 'all' : 'served') : { version },
    isUnsignedFault: !allowUnsigned,
    isExpiryFault: true,
    privateStore: null,
    tsaCa: await tsaCaOf(options, runtime),
    progress: terminal.progress,
  })
  const printed = { isJson: options.json, report: toReport(url, found), lines: checkLines(found) }
  printAudit(found, printed, terminal)
  if (trust.kind === 'published') warnOfTrust(found, terminal)
  assertSound(url, found, REMEDY)
}

/** Trust on first use is always reported, with --json too: this check cannot verify it. */
function warnOfTrust({ trusted }: Audit, { note }: Terminal): void {
  if (trusted.length === 0) return
  note(
    'WARNING: the key comes from the service itself. An attacker who can forge its files can forge the key too.',
  )
  note(
    'Compare the fingerprint with one that you get from the publisher in another way, and pin it from now on:',
  )
  for (const { fingerprint } of trusted) note(`  --key-id ${fingerprint}`)
}

export function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isFit = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === ''
  if (isFit) return url.href.replace(/\/+$/, '')
  throw new UsageError(`expected an address such as https://data.example.org, got '${text}'`)
}

async function readTrust({ key, keyId, allowUnsigned }: Options, cwd: string): Promise<Trust> {
  if (key === undefined && keyId === undefined) return { kind: 'published' }
  if (key !== undefined && keyId !== undefined) throw new UsageError('give --key or --key-id, not both')
  if (allowUnsigned)
    throw new UsageError('--allow-unsigned cannot be combined with a pinned key: give one of them')
  if (keyId !== undefined) return { kind: 'fingerprints', fingerprints: keyId }
  return { kind: 'keys', keys: await Promise.all((key ?? []).map(path => readKey(resolve(cwd, path)))) }
}

export async function readKey(path: string): Promise<TrustedKey> {
  const key = parsePublicKey(await readFile(path, 'utf8').catch(unread(`the key ${path}`)))
  if (key !== null) return key
  throw new Error(
    `${path} is not an Ed25519 public key in PEM form: the publisher's keys are in /.well-known/highwater-keys.json, those of seals at /v1/seals/keys/ID.pem`,
  )
}
