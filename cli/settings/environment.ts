import { isIP } from 'node:net'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseIsoInstant } from '#core/calendar.ts'
import { DEFAULT_EFFORT, EFFORTS } from '#core/contract/manifest.ts'
import { parseKeyRing } from '#signals/outbox/secret-box.ts'
import { messageOf } from '#storage/error-code.ts'
import { assertStoreUrl, privateTwin } from '#storage/open-store.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { readBy, text, wholeNumber } from './text.ts'

/** The settings by the names of their variables. One that is not set and has no default is null. */
export type Environment = ReturnType<typeof parseEnvironment>

export const DEFAULT_ADMIN_PORT = 8083

const LARGEST_PORT = 65_535

/** As pino names and orders them: each level includes those after it, and the last is empty. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** A generated token has 43 characters; a shorter one could be guessed. */
const SHORTEST_TOKEN = 32

/** Of nine digits. */
const MOST_SEALS = 999_999_999

const A_PORT = `a port from 0 to ${LARGEST_PORT}`

export const port = z.coerce.number().int().min(0).max(LARGEST_PORT).describe(A_PORT)

const address = z.url({ protocol: /^https?$/ })

/** An address to which paths are appended. */
const baseAddress = address.transform(text => text.replace(/\/+$/, ''))

/** Its refusal never shows the text, which may have a password. */
export const redisAddress = z.url({
  protocol: /^rediss?$/,
  error: 'expected the address of a Redis, such as redis://10.0.0.5:6379',
})

const yes = z
  .enum(['yes', 'no'])
  .default('no')
  .transform(text => text === 'yes')

const instant = readBy(parseIsoInstant, 'an instant such as 2027-01-31T00:00:00Z')

/** A text that a check accepts, which throws otherwise. */
const accepted = (check: (text: string) => unknown) =>
  text.superRefine((given, context) => {
    try {
      check(given)
    } catch (error) {
      context.addIssue(messageOf(error))
    }
  })

const list = (isPart: (part: string) => boolean) =>
  text
    .default('')
    .transform(text => text.split(',').map(part => part.trim()))
    .transform(parts => parts.filter(part => part !== ''))
    .refine(parts => parts.every(isPart))

export const storeUrl = accepted(assertStoreUrl)

/** A setting without a default. `expected` is what its text must be, for the help and for a refusal. */
const optional = <Schema extends z.ZodType>(schema: Schema, expected: string) =>
  schema.nullable().default(null).describe(expected)

/** One whose text is never shown: a credential, a command, or an address that may have a password. */
const secret = <Schema extends z.ZodType>(schema: Schema, expected: string) =>
  optional(schema, expected).meta({ isSecret: true })

/** Each a variable, or a line of the settings file. Its description stands in the help, in docs/settings.md and in refusals. */
export const SETTINGS = {
  DATA_FOLDER: optional(text, 'the folder of all that is not set below; .data if not set'),
  STORE_URL: optional(storeUrl, 'a store such as file:///var/lib/highwater or s3://bucket/highwater'),
  PRIVATE_STORE_URL: optional(storeUrl, 'a store such as file:///var/lib/highwater.private, never served'),
  AWS_ENDPOINT_URL_S3: secret(address, 'the address of an S3-compatible service'),
  AWS_ENDPOINT_URL: secret(address, 'the same, used if AWS_ENDPOINT_URL_S3 is not set'),
  AWS_REGION: z
    .string()
    .default('us-east-1')
    .meta({ description: 'the region of the bucket, such as us-east-1', isSecret: true }),
  AWS_ACCESS_KEY_ID: secret(text, 'an access key, set together with AWS_SECRET_ACCESS_KEY'),
  AWS_SECRET_ACCESS_KEY: secret(text, 'the secret of AWS_ACCESS_KEY_ID, set together with it'),
  AWS_SESSION_TOKEN: secret(text, 'the session token of a temporary key'),
  SIGNING_KEY_FILE: optional(text, 'a file with the Ed25519 private key that signs publications'),
  ANCHOR_COMMAND: secret(
    text,
    'a shell command that prints a time stamp of the digest in ENTRY_SHA256, run for each entry of the log',
  ),
  ANCHOR_EVERY: wholeNumber(1, MOST_SEALS, 'a whole number')
    .default(6)
    .describe(
      'a whole number from 1: every so-many-th seal of signals gets a time stamp, too, with ANCHOR_COMMAND',
    ),
  SEALS: z.enum(['on', 'off']).default('on').describe('on, or off to seal no signal'),
  SEAL_KEY_FILE: optional(
    text,
    'a file with the Ed25519 private key that seals signals, another one than SIGNING_KEY_FILE; generated if not set',
  ),
  SEAL_SECRET: secret(
    text.regex(/^\S+$/).min(SHORTEST_TOKEN),
    `the secret of sealed signals, ${SHORTEST_TOKEN} characters or more, without blanks, as of openssl rand -hex 32; generated if not set`,
  ),
  BUILD_EFFORT: z
    .enum(EFFORTS)
    .default(DEFAULT_EFFORT)
    .describe(`the compression effort of builds: ${EFFORTS.join(', ')}; --effort overrides it`),
  NIGHTLY_IMPORT_COMMAND: secret(
    text,
    'a shell command that updates the data of the book, run in its folder',
  ),
  NIGHTLY_PING_URL: secret(address, 'an address that gets a POST after a night, and with /start and /fail'),
  FLEET_URL: secret(redisAddress, 'the Redis of a fleet of build workers, such as redis://10.0.0.5:6379'),
  CDN_PURGE_COMMAND: secret(text, 'a shell command that purges the tags in PURGE_TAGS from a CDN'),
  HOST: text.default('127.0.0.1').describe('the address to listen on'),
  HISTORY_PORT: port.default(8080).describe(`${A_PORT}, of the history service`),
  SIGNALS_PORT: port.default(8081).describe(`${A_PORT}, of the signals service`),
  OPERATOR_PORT: port.default(8082).describe(`${A_PORT}, of the operator interface`),
  ADMIN_HOST: text.default('127.0.0.1').describe('the address of /metrics of the history service'),
  ADMIN_PORT: optional(port, `${A_PORT}, of ADMIN_HOST; ${DEFAULT_ADMIN_PORT} or a free one if not set`),
  PUBLIC_BASE_URL: optional(baseAddress, 'the address that users see, such as https://data.example.org'),
  HISTORY_BASE_URL: optional(baseAddress, 'the address of the history service, to which signals link'),
  SIGNALS_BASE_URL: optional(baseAddress, 'the address of the signals service, which guides name'),
  ALLOWED_ORIGINS: list(part => URL.parse(part)?.origin === part).describe(
    'origins such as https://www.example.org, separated by commas, that may read answers in a browser',
  ),
  TRUSTED_PROXIES: list(part => isIP(part) !== 0 || ipaddr.isValidCIDR(part)).describe(
    'addresses or networks such as 10.0.0.0/8, separated by commas, whose X-Forwarded-For is trusted',
  ),
  DEPRECATED_AT: optional(instant, 'the header Deprecation, an instant such as 2027-01-31T00:00:00Z'),
  SUNSET_AT: optional(instant, 'the header Sunset, an instant such as 2027-06-30T00:00:00Z'),
  REDIS_URL: secret(
    redisAddress,
    'the Redis of signals, such as redis://127.0.0.1:6379; built in if not set',
  ),
  REDIS_FOLDER: optional(
    text.refine(isAbsolute),
    'the absolute data folder of the Redis of REDIS_URL, if it is on this machine: alerts watch its disk',
  ),
  ALLOW_UNSAFE_REDIS: yes.describe(
    'no, or yes if the provider of the Redis guarantees durability in another way',
  ),
  OPERATOR_TOKEN: secret(
    text.regex(/^\S+$/).min(SHORTEST_TOKEN),
    `the token of the operator, ${SHORTEST_TOKEN} characters or more, without blanks; generated if not set`,
  ),
  SECRET_KEY: secret(
    accepted(parseKeyRing),
    'a key ring id:base64,... of 32 bytes each, newest first, that encrypts webhooks; generated if not set',
  ),
  OPERATOR_URL: optional(baseAddress, 'where `highwater ops` finds the operator interface'),
  SMTP_URL: secret(
    z.url({ protocol: /^smtps?$/ }),
    'the mail server of notices to subscribers, such as smtps://user:password@mail.example.org; none are mailed if not set',
  ),
  MAIL_FROM: optional(z.email(), 'the sender of these mails, such as signals@example.org, set with SMTP_URL'),
  ALLOW_PRIVATE_WEBHOOKS: yes.describe('no, or yes to allow webhooks on private addresses, for development'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`the lowest level that is logged: ${LOG_LEVELS.join(', ')}`),
  ALERT_URL: secret(address, 'an address that receives alerts as JSON by POST'),
  ALERT_COMMAND: secret(text, 'a shell command that reads an alert as JSON from its standard input'),
}

type Name = keyof typeof SETTINGS

export const VARIABLE_NAMES: readonly string[] = Object.keys(SETTINGS)

export const ENVIRONMENT_HELP = Object.entries(SETTINGS)
  .map(([name, { description }]) => `  ${name.padEnd(22)} ${description}`)
  .join('\n')

const settings = z.object(SETTINGS).check(({ value, issues }) => {
  const lack = (name: Name) => issues.push({ code: 'custom', input: undefined, path: [name] })
  const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: keySecret } = value
  // A key without its secret, or a secret without its key, is a mistake that S3 would report as a wrong secret.
  if (key === null && keySecret !== null) lack('AWS_ACCESS_KEY_ID')
  if (key !== null && keySecret === null) lack('AWS_SECRET_ACCESS_KEY')
  if (value.SMTP_URL !== null && value.MAIL_FROM === null) lack('MAIL_FROM')
  if (value.SMTP_URL === null && value.MAIL_FROM !== null) lack('SMTP_URL')
  if (value.REDIS_FOLDER !== null && value.REDIS_URL === null) lack('REDIS_URL') // ours is known
})

/** The settings of this process, with its data in DATA_FOLDER, or in `.data` of `home`. Throws as `parseEnvironment` does. */
export const readEnvironment = ({ env, home }: Pick<Runtime, 'env' | 'home'>): Environment =>
  parseEnvironment(env, env.DATA_FOLDER ? resolve(env.DATA_FOLDER) : join(home, '.data'))

/** Unset and empty variables have their defaults: the stores are under `folder`. Throws a UsageError with every problem. */
export function parseEnvironment(env: NodeJS.ProcessEnv, folder: string) {
  const given = VARIABLE_NAMES.map(name => [name, env[name] || undefined])
  const parsed = settings.safeParse(Object.fromEntries(given))
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map(({ path }) => String(path[0])))
    const lines = [...names].map(name => describeProblem(name, env[name]))
    throw new UsageError(['invalid environment:', ...lines].join('\n'))
  }
  const STORE_URL = parsed.data.STORE_URL ?? pathToFileURL(resolve(folder, 'store')).href
  return {
    ...parsed.data,
    DATA_FOLDER: folder,
    STORE_URL,
    PRIVATE_STORE_URL: parsed.data.PRIVATE_STORE_URL ?? privateTwin(STORE_URL),
    /** Whether the private store was named explicitly, instead of the default beside the public store. */
    isPrivateNamed: parsed.data.PRIVATE_STORE_URL !== null,
    s3: toS3Access(parsed.data),
  }
}

const toS3Access = (given: z.output<typeof settings>) => {
  const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: keySecret, AWS_SESSION_TOKEN: token } = given
  const session = token === null ? {} : { sessionToken: token }
  return {
    endpoint: given.AWS_ENDPOINT_URL_S3 ?? given.AWS_ENDPOINT_URL,
    region: given.AWS_REGION,
    credentials:
      key === null || keySecret === null
        ? null
        : { accessKeyId: key, secretAccessKey: keySecret, ...session },
  }
}

const schemaOf = (name: string): z.ZodType => SETTINGS[name as Name] // of a setting that there is

const isSecret = (name: string): boolean => schemaOf(name).meta()?.isSecret === true

/** The name of a setting, what was expected, and its text, unless that may be a secret. */
function describeProblem(name: string, text: string | undefined): string {
  const got = !text ? 'nothing' : isSecret(name) ? 'something else' : JSON.stringify(text)
  return `  ${name}: expected ${schemaOf(name).description}, got ${got}`
}

/** What is wrong with the text of a variable by itself; null if nothing is. */
export const problemWith = (name: string, text: string): string | null =>
  schemaOf(name).safeParse(text || undefined).success ? null : describeProblem(name, text)

/** They are shown as they are used; the others as they are written. */
const PLACES: readonly Name[] = ['DATA_FOLDER', 'STORE_URL', 'PRIVATE_STORE_URL']

/** The settings as they may be shown: the text of each, `***` if it may have a secret, null if it has none. */
export function showSettings({ env }: Pick<Runtime, 'env'>, environment: Environment) {
  const effective = { ...environment, ADMIN_PORT: environment.ADMIN_PORT ?? DEFAULT_ADMIN_PORT }
  return (Object.keys(SETTINGS) as Name[]).map(name => {
    const holdsSecret = isSecret(name) && Boolean(env[name])
    const value = PLACES.includes(name) ? effective[name] : env[name] || effective[name]
    const text = value === false ? 'no' : String(value ?? '')
    return { name, value: text === '' ? null : holdsSecret ? '***' : text, isSecret: holdsSecret }
  })
}

/** The file with the address and the password of our own Redis: of the one that runs, else of the last one. */
export const ownRedisFile = (folder: string): string => join(folder, 'redis-url')
