import type { ProgressEvent } from '#core/progress.ts'

type Stream = { write: (text: string) => unknown }

type Streams = {
  readonly out: Stream
  /** The bar is drawn only if this is a terminal: a log or a pipe has no line that can be overwritten. */
  readonly err: Stream & { readonly isTTY?: boolean | undefined }
  readonly elapsedMs: () => number
}

const CLEAR_LINE = '\r\u001b[2K'

/** Redrawing more often only flickers, and costs time on a slow connection. */
const REDRAW_MS = 100

export type Terminal = ReturnType<typeof createTerminal>

/** Where a command writes: results on stdout, everything else on stderr. */
export function createTerminal({ out, err, elapsedMs }: Streams) {
  const estimate = createEstimate(elapsedMs)
  let isDrawn = false
  let drawnMs = Number.NEGATIVE_INFINITY
  const clear = (): void => {
    if (isDrawn) err.write(CLEAR_LINE)
    isDrawn = false
  }
  const writeLine = (stream: Stream, line: string): void => {
    clear()
    stream.write(`${line}\n`)
  }
  return {
    /** A line of the result. */
    print: (line: string): void => writeLine(out, line),
    /** A line about what happens. */
    note: (line: string): void => writeLine(err, line),
    /** The result as one JSON document, for `--json`. */
    json: (value: unknown): void => writeLine(out, JSON.stringify(value)),
    /** The result as one JSON document or, without `--json`, as lines. */
    result(isJson: boolean | undefined, value: unknown, lines: readonly string[]): void {
      for (const line of isJson ? [JSON.stringify(value)] : lines) writeLine(out, line)
    },
    /** Shows one bar, on a terminal only. */
    progress(event: ProgressEvent): void {
      if (!err.isTTY) return
      const secondsLeft = estimate(event)
      if (event.done >= event.total) {
        clear() // the next step draws on the same line
        drawnMs = Number.NEGATIVE_INFINITY
      } else if (elapsedMs() - drawnMs >= REDRAW_MS) {
        err.write(CLEAR_LINE + drawBar(event, secondsLeft))
        drawnMs = elapsedMs()
        isDrawn = true
      }
    },
  }
}

/** An estimate after less time, or from a smaller part of the work, is too unstable to be useful. */
const ESTIMATE_AFTER_MS = 2_000
const ESTIMATE_FROM_PART = 0.05

/** Seconds until the step ends, at its speed so far; null while that is too uncertain. */
function createEstimate(elapsedMs: () => number): (event: ProgressEvent) => number | null {
  let step = ''
  let startedMs = 0
  return event => {
    const now = elapsedMs()
    if (event.step !== step) {
      step = event.step
      startedMs = now
    }
    const spentMs = now - startedMs
    const part = event.done / event.total
    if (!(spentMs >= ESTIMATE_AFTER_MS && part >= ESTIMATE_FROM_PART)) return null
    return Math.ceil((spentMs * (1 / part - 1)) / 1000)
  }
}

const BAR_WIDTH = 20

/** `render           ██████████░░░░░░░░░░  120/240 artifacts  2 s left`: less than 80 columns. */
function drawBar({ step, done, total, unit }: ProgressEvent, secondsLeft: number | null): string {
  const filled = Math.floor((BAR_WIDTH * done) / total)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const left = secondsLeft === null ? '' : `  ${duration(secondsLeft)} left`
  return `${step.padEnd(16)} ${bar}  ${done}/${total} ${unit}${left}`
}

const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`

/** Rows under one another: the first cell of each at the left, the others at the right. */
export const toTable = (
  rows: readonly (readonly string[])[],
  firstWidth: number,
  cellWidth: number,
): string[] =>
  rows.map(([name = '', ...cells]) =>
    [name.padEnd(firstWidth), ...cells.map(cell => cell.padStart(cellWidth))].join(''),
  )

/** A figure with two decimals; `-` for none. */
export const twoDecimals = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : '-')
