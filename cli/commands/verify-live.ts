import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { faultsIn } from '#static-build/audit/audit.ts'
import { auditLive, parseReceipts, seenChain } from '#static-build/audit/audit-live.ts'
import { createHttpReader } from '#static-build/audit/reader.ts'
import { ifThere } from '#storage/error-code.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { define, flag, type OptionsOf, option, repeated } from '../options/command.ts'
import { assertSound, checkLines, printAudit } from '../print/verify-report.ts'
import type { Runtime } from '../runtime.ts'
import { parseAddress, readKey, tsaCaOf, unread } from './verify.ts'

const OPTIONS = {
  key: repeated('<file>', 'trust only seals of this Ed25519 public key (PEM); may be repeated'),
  state: option(
    '<file>',
    'keep the newest seal and the keys in a file: every later run demands them, and fails once for what is new',
  ),
  tsaCa: option('<file>', 'check the time stamps of seals under this certificate of their authority (PEM)'),
  receipts: option(
    '<file>',
    'check signals as they were delivered and answers of /v1/signals/seals, a line each',
  ),
  json: flag('print the findings as one JSON document'),
}

const HELP = `
Examples:
  highwater verify-live https://data.example.org
  highwater verify-live https://data.example.org --key seals.pem --tsa-ca cacert.pem
  highwater verify-live https://data.example.org --state seen.json   # in a cron job: exit code 1 is an alarm
  highwater verify-live https://data.example.org --receipts mine.jsonl --json

Not shown by any seal: that no second service runs, that the bars are the market's, that money followed, a fill.`

const REMEDY = 'do not rely on the live record; ask the publisher, and keep what you have'

/** `highwater verify-live`: the exit code is 1 if anything is wrong; one run reports everything. */
export const defineVerifyLive = define(OPTIONS, HELP, verifyLive, {
  '<url>': 'address of a history service, or of a CDN in front of it',
})

async function verifyLive(options: OptionsOf<typeof OPTIONS>, runtime: Runtime, address = ''): Promise<void> {
  const url = parseAddress(address)
  const { cwd, now, terminal } = runtime
  const { key, receipts } = options
  const state = options.state === undefined ? null : resolve(cwd, options.state)
  const seen = state === null ? null : await readState(state)
  const found = await auditLive({
    reader: createHttpReader(url),
    nowMs: now(),
    keys: key === undefined ? null : await Promise.all(key.map(path => readKey(resolve(cwd, path)))),
    seen,
    tsaCa: await tsaCaOf(options, runtime),
    receipts: receipts === undefined ? null : await readReceipts(resolve(cwd, receipts)),
  })
  const keys = found.trusted.map(({ id, fingerprint }) => ({ id, fingerprint }))
  const report = { url, sound: faultsIn(found).length === 0, newest: found.seen, keys, checks: found.checks }
  printAudit(found, { isJson: options.json, report, lines: checkLines(found) }, terminal)
  if (key === undefined && seen === null)
    for (const { id, fingerprint } of keys)
      terminal.note(
        `WARNING: the key comes from the service itself. Compare its fingerprint ${fingerprint} with one that you get from the ` +
          `publisher in another way, and name /v1/seals/keys/${id}.pem with --key, or keep it with --state.`,
      )
  const { SIMULATED_ORIGIN } = await import('../build/simulated-live.ts')
  for (const { id } of keys.filter(({ id }) => SIMULATED_ORIGIN.includes(id)))
    terminal.note(`note: everybody has the key ${id}: these seals are simulated`)
  const isKept = found.checks.every(({ check, faults }) => check === 'news' || faults.length === 0)
  if (state !== null && isKept) await writeFile(state, `${JSON.stringify(found.seen)}\n`)
  assertSound(url, found, REMEDY)
}

async function readState(path: string) {
  const text = await ifThere(readFile(path, 'utf8'), null)
  const parsed = seenChain.safeParse(parseJson(text ?? ''))
  if (text === null || parsed.success) return parsed.data ?? null
  throw new Error(`${path} is not a state of \`highwater verify-live\`: name another file with --state`)
}

const readReceipts = (path: string) =>
  readFile(path, 'utf8')
    .then(parseReceipts)
    .catch(unread(`the receipts ${path}`))
