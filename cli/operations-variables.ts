// The variables of running it every day: the admin listener, and the night.
import { z } from 'zod'
import { DEFAULT_EFFORT, EFFORTS, type Effort } from '#core/contract/effort.ts'
import { LARGEST_PORT, port, webAddress } from './signals-variables.ts'

export type OperationsEnvironment = {
  readonly adminHost: string
  /** Null where nobody named one. */
  readonly adminPort: number | null
  /** How hard files are compressed, unless the command has --effort. */
  readonly buildEffort: Effort
  /** What fetches the data of the book before a night; null where nothing does. */
  readonly importCommand: string | null
  /** Who is told that a night began, and how it ended. */
  readonly pingUrl: string | null
}

export const DEFAULT_ADMIN_PORT = 8083

export const OPERATIONS_VARIABLES = {
  ADMIN_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('an address to listen on for /metrics of the history'),
  ADMIN_PORT: port
    .optional()
    .describe(`a port from 0 to ${LARGEST_PORT} for /metrics of the history (${DEFAULT_ADMIN_PORT})`),
  BUILD_EFFORT: z
    .enum(EFFORTS)
    .default(DEFAULT_EFFORT)
    .describe(`how hard builds compress: ${EFFORTS.join(', ')}; --effort wins`),
  NIGHTLY_IMPORT_COMMAND: z
    .string()
    .optional()
    .describe('a shell command that brings the data of the book up to date, in its folder'),
  NIGHTLY_PING_URL: webAddress.describe(
    'an address that is asked at the end of a night, with /start and /fail',
  ),
}

export const toOperations = (
  data: z.output<z.ZodObject<typeof OPERATIONS_VARIABLES>>,
): OperationsEnvironment => ({
  adminHost: data.ADMIN_HOST,
  adminPort: data.ADMIN_PORT ?? null,
  buildEffort: data.BUILD_EFFORT,
  importCommand: data.NIGHTLY_IMPORT_COMMAND ?? null,
  pingUrl: data.NIGHTLY_PING_URL ?? null,
})
