// The texts of settings and of options. Nothing else of the settings is loaded with it: most commands read none.
import { z } from 'zod'

export const text = z.string()

/** A text that a function reads; one that it cannot read is null. */
export const readBy = <Value>(read: (text: string) => Value | null, expected: string) =>
  text
    .transform((given, context) => {
      const value = read(given)
      if (value === null) context.addIssue(expected)
      return value ?? z.NEVER
    })
    .describe(expected)

export const decimal = (isFit: (value: number) => boolean, expected: string) =>
  readBy(given => {
    const value = Number(given)
    return given.trim() !== '' && Number.isFinite(value) && isFit(value) ? value : null
  }, expected)

export const wholeNumber = (least: number, most: number, expected: string) =>
  decimal(value => Number.isInteger(value) && value >= least && value <= most, expected)
