import { z } from 'zod'
import { parseZone, ZONE_FORM } from './zone.ts'

/** A book is whole by itself: its files are in its folder. */
const pathInside = z.string().regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))./)

/**
 * A file from elsewhere that stands for a table of the book: an entry of `bars`, or the `file` of a strategy. The
 * options of `highwater import` are the same.
 */
const fileShape = {
  path: z.union([pathInside.transform(only => [only]), z.array(pathInside).min(1)]).meta({
    description: 'The file, inside the book, or a list of files.',
    expected: 'a path inside the book, or a list of them',
  }),
  as: z.string().optional().meta({
    description: 'The name of the format, which is found without; a file of another format is then refused.',
    expected: 'the name of a format',
  }),
  tz: z
    .string()
    .refine(text => parseZone(text) !== null)
    .optional()
    .meta({ description: 'The zone of times that have none.', expected: ZONE_FORM }),
  columns: z
    .record(z.string(), z.union([z.string(), z.int().min(1)]))
    .optional()
    .meta({
      description:
        'Columns that are not known by name: the role and the name in the header, or the place from 1 on.',
      expected: 'a map of roles to names or places of columns, such as {t: Datum, c: 5}',
    }),
}

const flag = (description: string) =>
  z.boolean().default(false).meta({ description, expected: 'true or false' })

export const barsFileShape = {
  ...fileShape,
  drop_last: flag('Whether the last bar is left out, because it was not over when the file was made.'),
  drop_impossible: flag('Whether bars whose prices contradict each other are left out, which leaves gaps.'),
}

/** The `file` of a strategy whose source is a ledger. */
export const ledgerFileShape = {
  ...fileShape,
  capital: z.number().gt(0).optional().meta({
    description: 'The account at the start, in its currency; it makes fractions of the amounts in the file.',
    expected: 'an amount above 0',
  }),
}

/** The `file` of a strategy whose source is returns. */
export const returnsFileShape = {
  ...fileShape,
  unit: z.enum(['fraction', 'percent']).meta({
    description: 'What a return of 1 means: a fraction (+100 %) or a percent.',
    expected: 'fraction or percent',
  }),
}

export type FileSpec = z.infer<z.ZodObject<typeof fileShape>>
export type LedgerSpec = z.infer<z.ZodObject<typeof ledgerFileShape>>
export type ReturnsSpec = z.infer<z.ZodObject<typeof returnsFileShape>>
export type BarsSpec = z.infer<z.ZodObject<typeof barsFileShape>>
