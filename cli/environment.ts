import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { parseIsoInstant } from '#core/calendar.ts'
import { privateTwin } from '#storage/open-store.ts'
import { UsageError } from './usage-error.ts'

/** Everything that Highwater reads from the environment, parsed once, in the entry file. */
export type Environment = {
  readonly storeUrl: string
  readonly privateStoreUrl: string
  readonly host: string
  readonly historyPort: number
  /** Null where nobody said it: then it is the address that is bound. */
  readonly publicBaseUrl: string | null
  readonly allowedOrigins: readonly string[]
  readonly deprecatedAtMs: number | null
  readonly sunsetAtMs: number | null
}

const LARGEST_PORT = 65_535

const port = z.coerce.number().int().min(0).max(LARGEST_PORT)

const instant = z
  .string()
  .transform(parseIsoInstant)
  .refine(ms => ms !== null)

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text

const VARIABLES = {
  STORE_URL: z
    .url({ protocol: /^file$/ })
    .optional()
    .describe('a store such as file:///var/lib/highwater'),
  PRIVATE_STORE_URL: z
    .url({ protocol: /^file$/ })
    .optional()
    .describe('a store such as file:///var/lib/highwater.private'),
  HOST: z.string().min(1).default('127.0.0.1').describe('an address to listen on'),
  HISTORY_PORT: port.default(8080).describe(`a port from 0 to ${LARGEST_PORT}`),
  PUBLIC_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('an address such as https://data.example.org'),
  ALLOWED_ORIGINS: z
    .string()
    .default('')
    .transform(text =>
      text
        .split(',')
        .map(part => part.trim())
        .filter(part => part !== ''),
    )
    .refine(origins => origins.every(isOrigin))
    .describe('origins such as https://www.example.org, separated by commas'),
  DEPRECATED_AT: instant.optional().describe('an instant such as 2027-01-31T00:00:00Z'),
  SUNSET_AT: instant.optional().describe('an instant such as 2027-06-30T00:00:00Z'),
}

/** The names of all variables, for `--help`. */
export const ENVIRONMENT_HELP = Object.entries(VARIABLES)
  .map(([name, schema]) => `  ${name.padEnd(18)} ${schema.description}`)
  .join('\n')

/**
 * Parses the environment. Unset and empty variables take their default: the stores lie under `dataFolder`. Throws a
 * UsageError that lists every problem at once.
 */
export function parseEnvironment(env: NodeJS.ProcessEnv, dataFolder: string): Environment {
  const given = Object.keys(VARIABLES).map(name => [name, env[name] || undefined])
  const parsed = z.object(VARIABLES).safeParse(Object.fromEntries(given))
  if (!parsed.success) throw new UsageError(describeProblems(parsed.error, env))
  const { data } = parsed
  const storeUrl = data.STORE_URL ?? pathToFileURL(resolve(dataFolder, 'store')).href
  return {
    storeUrl,
    privateStoreUrl: data.PRIVATE_STORE_URL ?? privateTwin(storeUrl),
    host: data.HOST,
    historyPort: data.HISTORY_PORT,
    publicBaseUrl: data.PUBLIC_BASE_URL?.replace(/\/+$/, '') ?? null,
    allowedOrigins: data.ALLOWED_ORIGINS,
    deprecatedAtMs: data.DEPRECATED_AT ?? null,
    sunsetAtMs: data.SUNSET_AT ?? null,
  }
}

/** One line a variable: its name, what was expected and what it holds. None of these variables is a secret. */
function describeProblems(error: z.ZodError, env: NodeJS.ProcessEnv): string {
  const names = [...new Set(error.issues.map(({ path }) => String(path[0])))]
  const lines = names.map(name => {
    const expected = VARIABLES[name as keyof typeof VARIABLES].description // issues name only what was parsed
    return `  ${name}: expected ${expected}, got ${JSON.stringify(env[name])}`
  })
  return ['the environment is not fit:', ...lines].join('\n')
}
