import { isIP } from 'node:net'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseIsoInstant } from '#core/calendar.ts'
import { DEFAULT_EFFORT, EFFORTS } from '#core/contract/effort.ts'
import { parseKeyRing } from '#signals/delivery/secret-box.ts'
import { assertStoreUrl, privateTwin } from '#storage/open-store.ts'
import type { S3Access } from '#storage/s3-access.ts'
import type { Runtime } from '../runtime.ts'

/** The environment, parsed once, in the entry file. A variable that is not set is null. */
export type Environment = ReturnType<typeof parseEnvironment>

export const DEFAULT_ADMIN_PORT = 8083

const LARGEST_PORT = 65_535

/** As pino names and orders them: each level includes those after it, and the last is empty. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** A generated token has 43 characters; a shorter one could be guessed. */
const SHORTEST_TOKEN = 32

const port = z.coerce.number().int().min(0).max(LARGEST_PORT)

const webAddress = z.url({ protocol: /^https?$/ }).optional()

const withoutSlash = (address: string | undefined): string | null => address?.replace(/\/+$/, '') ?? null

const yes = z
  .enum(['yes', 'no'])
  .default('no')
  .transform(text => text === 'yes')

const instant = z
  .string()
  .transform(parseIsoInstant)
  .refine(ms => ms !== null)

/** Whether a check does not throw. Its message is more exact; here every problem has the same form. */
const isAccepted =
  (check: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      check(text)
      return true
    } catch {
      return false
    }
  }

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text

/** The parts of a text between commas. */
const list = z
  .string()
  .default('')
  .transform(text =>
    text
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== ''),
  )

const store = z.string().refine(isAccepted(assertStoreUrl)).optional()

const secret = z.string().optional()

const VARIABLES = {
  DATA_FOLDER: z.string().optional().describe('the folder of stores, generated secrets and a local Redis'),
  STORE_URL: store.describe('a store such as file:///var/lib/highwater or s3://bucket/highwater'),
  PRIVATE_STORE_URL: store.describe('a store such as file:///var/lib/highwater.private'),
  AWS_ENDPOINT_URL_S3: webAddress.describe('the address of an S3-compatible service'),
  AWS_ENDPOINT_URL: webAddress.describe('the same, used if AWS_ENDPOINT_URL_S3 is not set'),
  AWS_REGION: z.string().default('us-east-1').describe('a region such as us-east-1'),
  AWS_ACCESS_KEY_ID: secret.describe('an access key, set together with AWS_SECRET_ACCESS_KEY'),
  AWS_SECRET_ACCESS_KEY: secret.describe('the secret of AWS_ACCESS_KEY_ID, set together with it'),
  AWS_SESSION_TOKEN: secret.describe('the session token of a temporary key'),
  HOST: z.string().min(1).default('127.0.0.1').describe('an address to listen on'),
  HISTORY_PORT: port.default(8080).describe(`a port from 0 to ${LARGEST_PORT}`),
  PUBLIC_BASE_URL: webAddress.describe('an address such as https://data.example.org'),
  HISTORY_BASE_URL: webAddress.describe('the public address of the history service, to which signals link'),
  SIGNALS_BASE_URL: webAddress.describe('the public address of the signals service, for the guides'),
  ALLOWED_ORIGINS: list
    .refine(origins => origins.every(isOrigin))
    .describe('origins such as https://www.example.org, separated by commas'),
  CDN_PURGE_COMMAND: secret.describe('a shell command that purges the tags in PURGE_TAGS from a CDN'),
  ANCHOR_COMMAND: secret.describe(
    'a shell command that prints a time stamp of the digest in ENTRY_SHA256, run for each entry of the log',
  ),
  SIGNING_KEY_FILE: z
    .string()
    .optional()
    .describe('a file with the Ed25519 private key that signs publications'),
  DEPRECATED_AT: instant.optional().describe('an instant such as 2027-01-31T00:00:00Z'),
  SUNSET_AT: instant.optional().describe('an instant such as 2027-06-30T00:00:00Z'),
  ADMIN_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('the address that serves /metrics of the history service'),
  ADMIN_PORT: port
    .optional()
    .describe(`a port from 0 to ${LARGEST_PORT} for /metrics of the history service (${DEFAULT_ADMIN_PORT})`),
  BUILD_EFFORT: z
    .enum(EFFORTS)
    .default(DEFAULT_EFFORT)
    .describe(`the compression effort of builds: ${EFFORTS.join(', ')}; --effort overrides it`),
  NIGHTLY_IMPORT_COMMAND: secret.describe(
    'a shell command that updates the data of the book, run in its folder',
  ),
  NIGHTLY_PING_URL: webAddress.describe(
    'an address that gets a request at the end of a night, and with /start and /fail',
  ),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe('the Redis of the signals, such as redis://127.0.0.1:6379'),
  REDIS_FOLDER: z
    .string()
    .refine(isAbsolute)
    .optional()
    .describe('the absolute data folder of the Redis of REDIS_URL, if it is on this machine'),
  ALLOW_UNSAFE_REDIS: yes.describe(
    'no, or yes if the provider of the Redis guarantees durability in another way',
  ),
  FLEET_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe('the Redis of a fleet of build workers, such as redis://10.0.0.5:6379'),
  SIGNALS_PORT: port.default(8081).describe(`a port from 0 to ${LARGEST_PORT}`),
  OPERATOR_PORT: port.default(8082).describe(`a port from 0 to ${LARGEST_PORT}`),
  OPERATOR_TOKEN: z
    .string()
    .regex(/^\S+$/)
    .min(SHORTEST_TOKEN)
    .optional()
    .describe(`${SHORTEST_TOKEN} characters or more, without blanks; generated if not set`),
  OPERATOR_URL: webAddress.describe('where `highwater ops` finds the operator interface'),
  SECRET_KEY: z
    .string()
    .refine(isAccepted(parseKeyRing))
    .optional()
    .describe('a key ring id:base64,... of 32 bytes each, newest first; generated if not set'),
  ALLOW_PRIVATE_WEBHOOKS: yes.describe('yes to allow webhooks on private addresses, for development'),
  TRUSTED_PROXIES: list
    .refine(parts => parts.every(part => isIP(part) !== 0 || ipaddr.isValidCIDR(part)))
    .describe('addresses or networks such as 10.0.0.0/8, separated by commas'),
  ALERT_URL: webAddress.describe('an address that receives alerts as JSON by POST'),
  ALERT_COMMAND: z
    .string()
    .optional()
    .describe('a shell command that reads an alert as JSON from its standard input'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`one of ${LOG_LEVELS.join(', ')}`),
}

const NAME_WIDTH = 22

export const VARIABLE_NAMES: readonly string[] = Object.keys(VARIABLES)

export const ENVIRONMENT_HELP = Object.entries(VARIABLES)
  .map(([name, schema]) => `  ${name.padEnd(NAME_WIDTH)} ${schema.description}`)
  .join('\n')

const variables = z.object(VARIABLES).check(({ value, issues }) => {
  const lack = (name: keyof typeof VARIABLES) =>
    issues.push({ code: 'custom', input: undefined, path: [name] })
  const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: keySecret } = value
  // A key without its secret, or a secret without its key, is a mistake that S3 would report as a wrong secret.
  if (key === undefined && keySecret !== undefined) lack('AWS_ACCESS_KEY_ID')
  if (key !== undefined && keySecret === undefined) lack('AWS_SECRET_ACCESS_KEY')
  if (value.REDIS_FOLDER !== undefined && value.REDIS_URL === undefined) lack('REDIS_URL') // ours is known
})

/** The environment of this process. Throws as `parseEnvironment` does. */
export const readEnvironment = ({ env, home }: Pick<Runtime, 'env' | 'home'>): Environment =>
  parseEnvironment(env, dataFolder(home, env))

/**
 * Parses the environment. Unset and empty variables have their defaults: the stores are under `dataFolder`. Throws a
 * UsageError that lists every problem at once.
 */
export function parseEnvironment(env: NodeJS.ProcessEnv, dataFolder: string) {
  const given = VARIABLE_NAMES.map(name => [name, env[name] || undefined])
  const parsed = variables.safeParse(Object.fromEntries(given))
  if (!parsed.success) throw new UsageError(describeProblems(parsed.error, env))
  const { data } = parsed
  const storeUrl = data.STORE_URL ?? pathToFileURL(resolve(dataFolder, 'store')).href
  return {
    dataFolder,
    storeUrl,
    privateStoreUrl: data.PRIVATE_STORE_URL ?? privateTwin(storeUrl),
    s3: toS3Access(data),
    host: data.HOST,
    historyPort: data.HISTORY_PORT,
    publicBaseUrl: withoutSlash(data.PUBLIC_BASE_URL),
    historyBaseUrl: withoutSlash(data.HISTORY_BASE_URL),
    signalsBaseUrl: withoutSlash(data.SIGNALS_BASE_URL),
    allowedOrigins: data.ALLOWED_ORIGINS,
    purgeCommand: data.CDN_PURGE_COMMAND ?? null,
    anchorCommand: data.ANCHOR_COMMAND ?? null,
    redisUrl: data.REDIS_URL ?? null,
    redisFolder: data.REDIS_FOLDER ?? null,
    allowsUnsafeRedis: data.ALLOW_UNSAFE_REDIS,
    deprecatedAtMs: data.DEPRECATED_AT ?? null,
    sunsetAtMs: data.SUNSET_AT ?? null,
    fleetUrl: data.FLEET_URL ?? null,
    operations: {
      adminHost: data.ADMIN_HOST,
      adminPort: data.ADMIN_PORT ?? null,
      buildEffort: data.BUILD_EFFORT,
      importCommand: data.NIGHTLY_IMPORT_COMMAND ?? null,
      pingUrl: data.NIGHTLY_PING_URL ?? null,
    },
    signals: {
      port: data.SIGNALS_PORT,
      operatorPort: data.OPERATOR_PORT,
      operatorToken: data.OPERATOR_TOKEN ?? null,
      operatorUrl: withoutSlash(data.OPERATOR_URL),
      secretKey: data.SECRET_KEY ?? null,
      allowsPrivateWebhooks: data.ALLOW_PRIVATE_WEBHOOKS,
      trustedProxies: data.TRUSTED_PROXIES,
    },
    /** Of every service and of builds. */
    reporting: {
      logLevel: data.LOG_LEVEL,
      alertUrl: data.ALERT_URL ?? null,
      alertCommand: data.ALERT_COMMAND ?? null,
    },
  }
}

const toS3Access = (data: z.output<typeof variables>): S3Access => ({
  endpoint: data.AWS_ENDPOINT_URL_S3 ?? data.AWS_ENDPOINT_URL ?? null,
  region: data.AWS_REGION,
  credentials:
    data.AWS_ACCESS_KEY_ID === undefined || data.AWS_SECRET_ACCESS_KEY === undefined
      ? null
      : {
          accessKeyId: data.AWS_ACCESS_KEY_ID,
          secretAccessKey: data.AWS_SECRET_ACCESS_KEY,
          ...(data.AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: data.AWS_SESSION_TOKEN }),
        },
})

/** A line for each variable that is wrong. */
function describeProblems(error: z.ZodError, env: NodeJS.ProcessEnv): string {
  const names = [...new Set(error.issues.map(({ path }) => String(path[0])))]
  return ['invalid environment:', ...names.map(name => describeProblem(name, env[name]))].join('\n')
}

/** Its name, what was expected, and its value, unless that may be a secret. */
function describeProblem(name: string, given: string | undefined): string {
  const expected = VARIABLES[name as keyof typeof VARIABLES].description // only of names that were parsed
  return `  ${name}: expected ${expected}, got ${describeGiven(name, given)}`
}

/** What is wrong with the text of a variable by itself; null if nothing is. */
export const problemWith = (name: string, text: string): string | null =>
  VARIABLES[name as keyof typeof VARIABLES].safeParse(text || undefined).success
    ? null
    : describeProblem(name, text)

/** Variables that may hold a secret: credentials, commands, and addresses with a password. */
const UNPRINTED =
  /^(?:AWS_|ANCHOR_|CDN_PURGE_|NIGHTLY_|ALERT_|(?:REDIS_URL|FLEET_URL|OPERATOR_TOKEN|SECRET_KEY)$)/

/** A variable as it may be shown: its text, `***` if it may have a secret, null if it is not set. */
export type ShownSetting = {
  readonly name: string
  readonly value: string | null
  readonly isSecret: boolean
}

/** The effective settings, each with its default if it is not set. Throws as `parseEnvironment` does. */
export function showSettings(env: NodeJS.ProcessEnv, folder: string): ShownSetting[] {
  const { dataFolder, storeUrl, privateStoreUrl, operations } = parseEnvironment(env, folder)
  const computed: Readonly<Record<string, string>> = {
    DATA_FOLDER: dataFolder,
    STORE_URL: storeUrl,
    PRIVATE_STORE_URL: privateStoreUrl,
    ADMIN_PORT: String(operations.adminPort ?? DEFAULT_ADMIN_PORT),
  }
  return Object.entries(VARIABLES).map(([name, schema]) => {
    const isSecret = UNPRINTED.test(name) && Boolean(env[name])
    const byDefault = (env[name] ? undefined : schema.safeParse(undefined).data) ?? ''
    const value = computed[name] ?? (env[name] || String(byDefault === false ? 'no' : byDefault))
    return { name, value: value === '' ? null : isSecret ? '***' : value, isSecret }
  })
}

function describeGiven(name: string, given: string | undefined): string {
  if (given === undefined || given === '') return 'nothing'
  return UNPRINTED.test(name) ? 'something else' : JSON.stringify(given)
}

/** DATA_FOLDER, or `.data` in the checkout or, for an npm package, in the working folder. */
export const dataFolder = (home: string, { DATA_FOLDER }: NodeJS.ProcessEnv): string =>
  DATA_FOLDER ? resolve(DATA_FOLDER) : join(home, '.data')

/** The file with the address and the password of our own Redis: of the one that runs, else of the last one. */
export const ownRedisFile = (folder: string): string => join(folder, 'redis-url')

/** Wrong usage: exit code 2, without a stack. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

export function parsePort(option: string, text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= LARGEST_PORT) return port
  throw new UsageError(`${option}: expected a port from 0 to ${LARGEST_PORT}, got '${text}'`)
}
