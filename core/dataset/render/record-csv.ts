// Records as RFC 4180: the fields that are named, in their order, numbers without an exponent, an empty cell for none.
import { toText } from '#core/contract/decimal.ts'

const LINE_END = '\r\n'

type Value = string | number | boolean

export const toCsvHeader = (fields: readonly string[]): string => fields.join(',') + LINE_END

export const toCsvRow = <Field extends string>(
  fields: readonly Field[],
  record: { readonly [Name in Field]?: Value | undefined },
): string => fields.map(field => toCell(record[field])).join(',') + LINE_END

function toCell(value: Value | undefined): string {
  if (typeof value === 'number') return toText(value)
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
