import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(
  process.env.HIGHWATER_SHARED_DATA ?? resolve(import.meta.dirname, '../../../shared/data'),
)

/**
 * The folder with real bars and ledgers, or null where this machine has none. It is not part of the project (most of
 * the series may not be redistributed), so tests that read it skip without it, and say so.
 */
export const sharedData: string | null = existsSync(folder) ? folder : null

/** Why a test is skipped without it. */
export const NO_SHARED_DATA = 'no real bars on this machine'
