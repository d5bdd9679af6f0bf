import { ID_PATTERN } from '#core/contract/parameters.ts'
import { argumentsOf, DEFAULT_ENDPOINT, destinationOf } from '#signals/outbox/destination.ts'
import { createSecretBox } from '#signals/outbox/secret-box.ts'
import { readWebhook } from '#signals/outbox/webhooks.ts'
import { type Finding, isFit, runCases, selfTestCases } from '#signals/self-test.ts'
import { checkUrl, RefusedAddressError } from '#signals/send/address-guard.ts'
import { createHostResolver } from '#signals/send/resolve-host.ts'
import { keyOfSecret, liveSecrets } from '#signals/send/sign.ts'
import { define, flag, type OptionsOf, option } from '../../options/command.ts'
import { openRedis } from '../../outside/redis-url.ts'
import { type Runtime, UsageError } from '../../runtime.ts'
import { startTimer } from '../../services/started.ts'
import { readEnvironment } from '../../settings/environment.ts'
import { readKeyRing } from '../../settings/generated-secrets.ts'

const OPTIONS = {
  secret: option('<whsec>', 'the secret that it verifies with, of an address (default: WEBHOOK_SECRET)'),
  oldSecret: option('<whsec>', 'the one before it: both must be accepted (default: WEBHOOK_SECRET_OLD)'),
  alias: option('<alias>', 'the alias of the signals that are sent (default: self-test)'),
  endpoint: option('<name>', 'of a client: the endpoint (default: its webhook)'),
  allowLoopback: flag('for development: let the address be of this machine, without TLS'),
  json: flag('print the findings as one JSON document'),
}

type Options = OptionsOf<typeof OPTIONS>

const EXAMPLES = `
Examples:
  highwater ops self-test acme
  highwater ops self-test https://hooks.example.org/signals --secret whsec_...
  WEBHOOK_SECRET=whsec_... highwater ops self-test http://127.0.0.1:8090/signals --allow-loopback
  highwater ops self-test https://hooks.example.org/signals --secret whsec_new --old-secret whsec_old --json

Every signal that is sent is a test and a dry run: a receiver that checks either flag does not trade on it.`

/** `highwater ops self-test URL|CLIENT`: what a receiver must withstand, sent to it. */
export const defineSelfTest = define(OPTIONS, EXAMPLES, selfTest, {
  '<receiver>': 'its address, or a client: then address and secrets are those of its webhook',
})

async function selfTest(options: Options, runtime: Runtime, receiver = ''): Promise<void> {
  const { now, terminal } = runtime
  const { rules, ...target } = ID_PATTERN.test(receiver)
    ? await storedTarget(receiver, options, runtime)
    : givenTarget(receiver, options, runtime)
  const cases = selfTestCases({ ...target, alias: options.alias ?? 'self-test', nowMs: now() })
  const { createSender } = await import('#signals/send/send.ts') // it brings an HTTP client with it
  const sender = createSender({ rules, resolveHost: createHostResolver(), now, startTimer })
  const findings = await runCases(cases, sender).finally(() => sender.close())
  terminal.result(options.json, { receiver, fit: isFit(findings), findings }, findings.flatMap(linesOf))
  if (target.oldSecret === null)
    terminal.note('a rotation was not tested: no old secret is in force, and none was given by --old-secret')
  if (!isFit(findings)) throw new Error(`${receiver} does not pass yet: fix what failed and run this again`)
}

function givenTarget(url: string, options: Options, { env }: Runtime) {
  const rules = { allowLoopback: options.allowLoopback ?? false }
  assertUrl(url, rules)
  const secret = parseSecret('--secret', options.secret ?? env.WEBHOOK_SECRET)
  if (secret === null)
    throw new UsageError('give the secret of the receiver by --secret, or in WEBHOOK_SECRET')
  const oldSecret = parseSecret('--old-secret', options.oldSecret ?? env.WEBHOOK_SECRET_OLD)
  return { url, secret, oldSecret, rules }
}

async function storedTarget(client: string, options: Options, runtime: Runtime) {
  if (options.secret !== undefined || options.oldSecret !== undefined)
    throw new UsageError(
      `the secrets of ${client} are those of its webhook: leave --secret and --old-secret out`,
    )
  const environment = readEnvironment(runtime)
  const box = createSecretBox(await readKeyRing(environment), runtime.drawBytes)
  const redis = await openRedis(environment)
  const destination = destinationOf(client, options.endpoint ?? DEFAULT_ENDPOINT)
  const webhook = await readWebhook(redis, box, destination).finally(() => redis.disconnect())
  if (webhook === null)
    throw new Error(
      `the client '${destination}' has no webhook: \`highwater ops webhook set ${argumentsOf(destination)} URL\` sets one`,
    )
  const { url, secrets } = webhook
  const rules = { allowLoopback: options.allowLoopback ?? environment.ALLOW_PRIVATE_WEBHOOKS }
  assertUrl(url, rules)
  const [secret, oldSecret = null] = liveSecrets(secrets, runtime.now()) // newest first
  if (secret === undefined) throw new Error(`no secret of ${client} signs any more: rotate it`)
  return { url, secret, oldSecret, rules }
}

function assertUrl(url: string, rules: { readonly allowLoopback: boolean }): void {
  try {
    checkUrl(url, rules)
  } catch (error) {
    if (!(error instanceof RefusedAddressError)) throw error
    throw new UsageError(`${error.message}; --allow-loopback lets it be of this machine`)
  }
}

/** The secret, null if none is given. It is not quoted: an error goes to logs. */
function parseSecret(option: string, text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  try {
    keyOfSecret(text)
    return text
  } catch {
    throw new UsageError(`${option}: expected a secret such as whsec_ and 44 characters of base64`)
  }
}

const WORDS = { passed: 'passed', failed: 'FAILED', noted: 'note  ', skipped: '-     ' } as const

const linesOf = ({ name, verdict, told: observed, advice }: Finding): string[] => [
  `${WORDS[verdict]}  ${name.padEnd(30)}  ${observed}`,
  ...(advice === '' ? [] : [`        ${advice}`]),
]
