import type { Bar } from '#core/replay/strategy.ts'
import { explainHeader, explainLength, type Header, toHeader } from './header.ts'
import { BAR_COLUMNS, explainBar, isSound, toBar } from './read-bars.ts'
import { TIMEFRAME_MS, type Timeframe } from './timeframe.ts'

/** What a line of a table of bars is; `why` is a sentence. */
export type BarLine =
  | { readonly kind: 'header' }
  | { readonly kind: 'bar'; readonly bar: Bar }
  | { readonly kind: 'fault'; readonly why: string }

/**
 * Reads a table of bars line by line as it grows, by the rules of `readBars`: the first line is the header. The order of
 * the rows is left to the caller, who knows what came before.
 */
export function createBarReader(timeframe: Timeframe): (line: string) => BarLine {
  let header: Header | null = null
  return line => {
    if (header !== null) return readRow(line, header, timeframe)
    header = toHeader(line.split(','), BAR_COLUMNS)
    return header === null ? { kind: 'fault', why: explainHeader(line, BAR_COLUMNS) } : { kind: 'header' }
  }
}

function readRow(line: string, header: Header, timeframe: Timeframe): BarLine {
  const cells = line.split(',')
  if (cells.length !== header.names.length) return { kind: 'fault', why: explainLength(line, cells, header) }
  const fields = header.arrange(cells)
  const bar = toBar(fields)
  if (isSound(bar, Number.NaN, TIMEFRAME_MS[timeframe])) {
    return { kind: 'bar', bar: fields.at(-1) === '' ? { ...bar, v: Number.NaN } : bar }
  }
  return { kind: 'fault', why: explainBar(fields, bar, Number.NaN, timeframe).join('; ') }
}
