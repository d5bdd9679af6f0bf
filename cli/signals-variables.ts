// The variables of the signals service and of the operator's interface, parsed together with all others.
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseKeyRing } from '#signals/delivery/secret-box.ts'

export type SignalsEnvironment = {
  readonly port: number
  readonly operatorPort: number
  /** Null where it is generated at the first run. */
  readonly operatorToken: string | null
  /** Where the command line finds the operator's interface; null for the port on this machine. */
  readonly operatorUrl: string | null
  /** The text of the ring; null where it is generated at the first run. */
  readonly secretKey: string | null
  readonly allowsPrivateWebhooks: boolean
  /** Addresses and networks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
  readonly alertUrl: string | null
  readonly alertCommand: string | null
  readonly logLevel: (typeof LOG_LEVELS)[number]
}

/** As pino names and orders them: each tells what those after it tell, and the last tells nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** A token that can be guessed is none: a generated one has 43 characters. */
const SHORTEST_TOKEN = 32

export const LARGEST_PORT = 65_535

export const port = z.coerce.number().int().min(0).max(LARGEST_PORT)

const yes = z
  .enum(['yes', 'no'])
  .default('no')
  .transform(text => text === 'yes')

export const webAddress = z.url({ protocol: /^https?$/ }).optional()

const proxies = z
  .string()
  .default('')
  .transform(text => text.split(',').map(part => part.trim()))
  .transform(parts => parts.filter(part => part !== ''))
  .refine(parts => parts.every(part => isIP(part) !== 0 || ipaddr.isValidCIDR(part)))

export const SIGNALS_VARIABLES = {
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe('the Redis of the signals, such as redis://127.0.0.1:6379'),
  REDIS_FOLDER: z
    .string()
    .refine(isAbsolute)
    .optional()
    .describe('the absolute data folder of the Redis of REDIS_URL, if it is on this machine'),
  ALLOW_UNSAFE_REDIS: z
    .enum(['no', 'yes'])
    .default('no')
    .describe('no, or yes if the provider of the Redis guarantees durability in another way'),
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
    .refine(isKeyRing)
    .optional()
    .describe('a key ring id:base64,... of 32 bytes each, newest first; generated if not set'),
  ALLOW_PRIVATE_WEBHOOKS: yes.describe('yes to allow webhooks on private addresses, for development'),
  TRUSTED_PROXIES: proxies.describe('addresses or networks such as 10.0.0.0/8, separated by commas'),
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

/** Variables that may hold a secret. */
export const SIGNALS_SECRETS = /^(?:REDIS_URL|OPERATOR_TOKEN|SECRET_KEY|ALERT_URL|ALERT_COMMAND)$/

export const toSignals = (data: z.output<z.ZodObject<typeof SIGNALS_VARIABLES>>): SignalsEnvironment => ({
  port: data.SIGNALS_PORT,
  operatorPort: data.OPERATOR_PORT,
  operatorToken: data.OPERATOR_TOKEN ?? null,
  operatorUrl: data.OPERATOR_URL?.replace(/\/+$/, '') ?? null,
  secretKey: data.SECRET_KEY ?? null,
  allowsPrivateWebhooks: data.ALLOW_PRIVATE_WEBHOOKS,
  trustedProxies: data.TRUSTED_PROXIES,
  alertUrl: data.ALERT_URL ?? null,
  alertCommand: data.ALERT_COMMAND ?? null,
  logLevel: data.LOG_LEVEL,
})

function isKeyRing(text: string): boolean {
  try {
    parseKeyRing(text)
    return true
  } catch {
    // The use of the ring has a more exact message; here every problem has the same form.
    return false
  }
}
