// How the texts of settings and of options are read.
import { z } from 'zod'
import { UsageError } from '../exit.ts'

/** Any text. */
export const text = z.string()

/** Throws a UsageError with the description of the schema, or with its own message if it has none. */
export const readerOf =
  <Schema extends z.ZodType>(schema: Schema) =>
  (text: string, name: string): z.output<Schema> => {
    const { success, data, error } = schema.safeParse(text)
    if (success) return data
    const { description } = schema
    throw new UsageError(
      `${name}: ${description === undefined ? error.issues[0]?.message : `expected ${description}, got '${text}'`}`,
    )
  }

/** A text that a function reads; one that it cannot read is null. */
export const readBy = <Value>(read: (text: string) => Value | null, expected: string) =>
  text
    .transform((given, context) => {
      const value = read(given)
      if (value === null) context.addIssue(expected)
      return value ?? z.NEVER
    })
    .describe(expected)

export const wholeNumber = (least: number, most: number, expected: string) =>
  readBy(given => {
    const number = Number(given)
    return given.trim() !== '' && Number.isInteger(number) && number >= least && number <= most
      ? number
      : null
  }, expected)
