// The files of a program in the private store. A version's manifest names their index by its digest, the
// index each file.
import { z } from 'zod'
import { textOrNull } from './payloads/field.ts'

/** The records that leave through the signals service as they are stored. */
export const PROGRAM_RECORDS = [
  'preview',
  'manifest',
  'basket',
  'deploys',
  'performance-dca',
  'performance-hodl',
  'performance-lump_sum',
] as const
export type ProgramRecord = (typeof PROGRAM_RECORDS)[number]

/** Beside the records: what simulations and personal baskets are computed from. */
export const PROGRAM_FILES = ['data', ...PROGRAM_RECORDS] as const
export type ProgramFile = (typeof PROGRAM_FILES)[number]

export const PROGRAM_INDEX = 'program/index.json'

/** `program/basket.json`: the name of a file of a program among the private files of its version. */
export const programFileName = (file: ProgramFile): string => `program/${file}.json`

export const PROGRAM_FORMAT = 1

export const programIndex = z.object({
  format_version: z.literal(PROGRAM_FORMAT),
  alias: z.string(),
  salt: textOrNull(
    'Keeps anybody from trying guesses at the digest of this index; null where nothing is signed.',
  ),
  files: z.array(z.object({ name: z.enum(PROGRAM_FILES), bytes: z.int(), sha256: z.string() })),
})

export type ProgramIndex = z.infer<typeof programIndex>
