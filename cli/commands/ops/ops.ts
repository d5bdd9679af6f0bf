import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { group } from '../../options/command.ts'
import { type Runtime, UsageError } from '../../runtime.ts'
import { assertReadable, BACKUP_COMMANDS } from './backup.ts'
import type { OperatorClient } from './operator-client.ts'
import { type Addition, addRouteCommands, type Values } from './route-commands.ts'
import { defineSelfTest } from './self-test.ts'

const ABOUT = `
The commands use the operator interface at OPERATOR_URL (default: OPERATOR_PORT on this machine) with OPERATOR_TOKEN (default:
the token that the service generated on this machine). backup, restore, begin-anew and rekey use REDIS_URL directly.

Examples:
  highwater ops status
  highwater ops clients add acme --aliases alder,birch --activate
  highwater ops keys issue acme`

const GROUPS = {
  clients: 'clients and their entitlements',
  keys: 'the API keys of a client, at most two',
  webhook: 'where the signals of a client go',
  live: 'the live strategies',
  tokens: 'the tokens of operators',
}

const OWN = group(ABOUT, {
  'self-test': [
    'send a receiver what it must accept and what it must refuse, and report what to fix',
    defineSelfTest,
  ],
  ...BACKUP_COMMANDS,
})

/** `highwater ops`: a command for each route of the operator, and those that need no running service. */
export function defineOps(command: Command, runtime: Runtime): void {
  addRouteCommands(command, runtime, GROUPS, ADDITIONS)
  OWN(command, runtime)
}

const SIGNAL_HELP = `
FILE holds the signal as JSON: signal_id, alias, action (long, short, flat), signal_price, stop, base_risk_pct, timestamp,
and mode DRY_RUN if it must not be traded. The same signal_id again is the same signal: if in doubt, repeat the command.
What the live runner fires is fired with --by-hand only.`

const ADDITIONS: Readonly<Record<string, Addition>> = {
  fire: {
    body: async ({ file, by_hand }, { cwd }) => {
      const path = await assertReadable(resolve(cwd, String(file)))
      const signal = parseSignal(await readFile(path, 'utf8'), String(file))
      return by_hand === undefined || typeof signal !== 'object' ? signal : { ...signal, by_hand }
    },
    example: 'fire signal.json',
    help: SIGNAL_HELP,
  },
  test: {
    follow: awaitFirstAttempt,
    line: testLine,
    exitCode: ({ acknowledged }) => (acknowledged === true ? 0 : 1),
  },
  set_webhook: {
    options: command =>
      void command
        .option('--secret <secret>', 'the secret that its receiver has: whsec_...')
        .addOption(
          new Option(
            '--secret-file <file>',
            'a file with the secret, which keeps it out of the list of processes',
          ).conflicts('secret'),
        ),
    body: async ({ url, endpoint, secret, secretFile }, { cwd }) => ({
      ...{ url, endpoint },
      secret:
        typeof secretFile === 'string'
          ? (await readFile(resolve(cwd, secretFile), 'utf8')).trim()
          : (secret ?? null),
    }),
  },
  halt: { example: "live halt alder --why 'its bars are late'" },
  mode: {
    options: command => void command.option('--dry-run', 'set DRY_RUN instead of LIVE'),
    body: ({ alias, dryRun, why }) => ({ alias, mode: dryRun === true ? 'DRY_RUN' : 'LIVE', why }),
    example: 'live go-live alder --dry-run',
  },
}

function parseSignal(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is not JSON: ${error.message}`)
    throw error
  }
}

/** A receiver has ten seconds for its answer. */
const TEST_PATIENCE_S = 12
const TEST_LOOKS_PER_S = 10

const delivered = z.object({
  delivery: z.object({ status: z.string(), latency_ms: z.number().nullable() }),
  attempts: z.array(
    z.object({ ok: z.boolean(), status: z.number().nullable(), reason: z.string().nullable() }),
  ),
})

const UNKNOWN = { acknowledged: null, status: null, reason: null, latency_ms: null }

/** What became of a test; a token that may fire one, and not read, learns its number alone. */
async function awaitFirstAttempt(
  { seq }: Values,
  { client, endpoint }: Values,
  ask: OperatorClient,
  { pause }: Runtime,
): Promise<Values> {
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(String(endpoint))}`
  const path = `/ops/signals/${seq}/${encodeURIComponent(String(client))}${query}`
  for (let look = 0; look < TEST_PATIENCE_S * TEST_LOOKS_PER_S; look++) {
    if (look > 0) await pause(1_000 / TEST_LOOKS_PER_S)
    const answer = await ask('GET', path).catch((error: unknown) => error) // none before the relay has it
    if (answer instanceof Error && answer.cause === 'forbidden')
      return { seq, client, endpoint, ...UNKNOWN, reason: answer.message }
    const found = delivered.safeParse(answer)
    const attempt = found.data?.attempts[0]
    if (found.data === undefined || attempt === undefined) continue
    const { latency_ms } = found.data.delivery
    if (attempt.ok && latency_ms === null) continue // the attempt is recorded first, and then the delivery
    const { ok: acknowledged, status, reason } = attempt
    return { seq, client, endpoint, acknowledged, status, reason, latency_ms }
  }
  return { seq, client, endpoint, ...UNKNOWN }
}

function testLine({ seq, client, endpoint, acknowledged, status, reason, latency_ms }: Values): string {
  if (acknowledged === true)
    return `test ${seq}: the receiver acknowledged it with ${status}, ${latency_ms} ms after it was fired`
  if (acknowledged === null && reason !== null)
    return `test ${seq} was fired; what became of it is not shown: ${reason}`
  const outcome =
    acknowledged === false
      ? `the receiver did not acknowledge it (${status ?? reason}); more attempts follow`
      : `no attempt has ended after ${TEST_PATIENCE_S} s`
  const to = endpoint === undefined ? client : `${client} --endpoint ${endpoint}`
  return `test ${seq}: ${outcome}: \`highwater ops signal ${seq} ${to}\` shows every attempt`
}
