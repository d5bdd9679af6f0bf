import type { Progress, ProgressEvent } from '#core/progress.ts'

/** Where a command talks: results on stdout, everything else on stderr. */
export type Terminal = {
  /** A line of the result. */
  readonly print: (line: string) => void
  /** A line about how it goes. */
  readonly note: (line: string) => void
  readonly progress: Progress
  /** The result itself for machines: one JSON document, where `--json` was given. */
  readonly json: (value: unknown) => void
}

/** How the progress of long steps is shown. */
export type ProgressStyle = 'bar' | 'lines' | 'none'

type Streams = {
  readonly out: { write: (text: string) => unknown }
  readonly err: { write: (text: string) => unknown }
  readonly elapsedMs: () => number
}

/** A terminal for people (`bar`), for a pipe or a log (`lines`), or for a program (`none`). */
export function createTerminal(style: ProgressStyle, { out, err, elapsedMs }: Streams): Terminal {
  const meter = createMeter(elapsedMs)
  let isBarOpen = false
  const closeBar = (): void => {
    if (isBarOpen) err.write('\n')
    isBarOpen = false
  }
  return {
    print: line => {
      closeBar()
      out.write(`${line}\n`)
    },
    note: line => {
      closeBar()
      err.write(`${line}\n`)
    },
    json: value => out.write(`${JSON.stringify(value)}\n`),
    progress: event => {
      if (style === 'none') return
      const reading = meter(event)
      const isLast = event.done === event.total
      if (style === 'bar') {
        if (!isLast && !reading.isDue) return
        err.write(`\r\u001b[2K${drawBar(event, reading)}`)
        isBarOpen = true
        if (isLast) closeBar()
      } else if (isLast || reading.isQuarter) err.write(`${drawLine(event, reading)}\n`)
    },
  }
}

type Reading = {
  readonly seconds: number
  readonly perSecond: number
  /** Null before anything is done: nothing tells how long it will take. */
  readonly secondsLeft: number | null
  /** Time to draw the bar again. */
  readonly isDue: boolean
  /** A quarter of the step was passed since the last line. */
  readonly isQuarter: boolean
}

/** A person cannot read faster than this, and a terminal over a slow line should not have to. */
const REDRAW_MS = 100

/** Times each step from its first event on. */
function createMeter(elapsedMs: () => number): (event: ProgressEvent) => Reading {
  let step = ''
  let startedMs = 0
  let drawnMs = 0
  let quarter = 0
  return event => {
    const now = elapsedMs()
    if (event.step !== step) {
      step = event.step
      startedMs = now
      drawnMs = 0
      quarter = 0
    }
    const seconds = (now - startedMs) / 1000
    const perSecond = seconds > 0 ? event.done / seconds : 0
    const isDue = now - drawnMs >= REDRAW_MS
    if (isDue) drawnMs = now
    const reached = Math.floor((4 * event.done) / Math.max(event.total, 1))
    const isQuarter = reached > quarter
    quarter = reached
    return {
      seconds,
      perSecond,
      secondsLeft: perSecond > 0 ? (event.total - event.done) / perSecond : null,
      isDue,
      isQuarter,
    }
  }
}

const BAR_WIDTH = 28
const LABEL_WIDTH = 16

/** `render     ████████░░░░  120/240 artifacts  63/s  2 s left`. */
function drawBar(event: ProgressEvent, { perSecond, secondsLeft, seconds }: Reading): string {
  const filled = Math.round((BAR_WIDTH * event.done) / Math.max(event.total, 1))
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const head = `${event.step.padEnd(LABEL_WIDTH)} ${bar}  ${event.done}/${event.total} ${event.unit}`
  if (event.done === event.total) return `${head}  ${rate(perSecond)}  ${seconds.toFixed(1)} s`
  return secondsLeft === null ? head : `${head}  ${rate(perSecond)}  ${Math.ceil(secondsLeft)} s left`
}

const drawLine = ({ step, done, total, unit }: ProgressEvent, { seconds, perSecond }: Reading): string =>
  `${step}: ${done}/${total} ${unit} after ${seconds.toFixed(1)} s (${rate(perSecond)})`

const rate = (perSecond: number): string =>
  `${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)}/s`
