// Signals as RFC 4180: the fields of the specification in its order, numbers without an exponent.
import { toText } from '#core/contract/decimal.ts'
import { SIGNAL_FIELDS, signal } from '#core/contract/signal.ts'

const LINE_END = '\r\n'

export const SIGNAL_CSV_HEADER = SIGNAL_FIELDS.join(',') + LINE_END

/** The row of a stored signal. Throws if the text is not one. */
export function toSignalRow(body: string): string {
  const fields = signal.parse(JSON.parse(body))
  return SIGNAL_FIELDS.map(name => toCell(fields[name])).join(',') + LINE_END
}

function toCell(value: string | number | boolean): string {
  if (typeof value === 'number') return toText(value)
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
