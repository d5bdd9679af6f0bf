import { mkdir, open, readFile, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { toIsoInstant } from '#core/calendar.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { ifThere } from '#storage/error-code.ts'
import { flushFolder } from '#storage/placing.ts'
import type { NewBarReader } from './feeds/feed.ts'

/** The bars that came live, in an append-only file: the first final bar wins. */
export type BarStore = Awaited<ReturnType<typeof openBarStore>>

const HEADER = 't,o,h,l,c,v\n'

/**
 * Opens or creates the file. An incomplete last line was never acknowledged and is cut off. A repeated bar was
 * written by a runner that paused while another took over: the first one counts. Throws if the file has anything but
 * ascending bars.
 */
export async function openBarStore(path: string, newReader: NewBarReader) {
  await mkdir(dirname(path), { recursive: true })
  const whole = await readWholeLines(path)
  const bars = parseBars(path, whole, newReader)
  const file = await open(path, 'a')
  if (whole === '') {
    await file.appendFile(HEADER)
    await file.datasync()
    await flushFolder(dirname(path)) // a new file can vanish in a power failure until then
  }
  let last = bars.at(-1)?.t ?? Number.NEGATIVE_INFINITY
  return {
    /** The bars at the time of opening, ascending. */
    bars: bars as readonly Bar[],
    /** Appends a bar; once this resolves it is on disk. Bars come in ascending order. */
    async append(bar: Bar): Promise<void> {
      if (bar.t <= last) return
      await file.appendFile(toLine(bar))
      await file.datasync()
      last = bar.t
    },
    close: () => file.close(),
  }
}

async function readWholeLines(path: string): Promise<string> {
  const bytes = await ifThere(readFile(path), Buffer.alloc(0))
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end < bytes.length) await truncate(path, end)
  return bytes.toString('utf8', 0, end)
}

function parseBars(path: string, text: string, newReader: NewBarReader): Bar[] {
  const read = newReader()
  const bars: Bar[] = []
  const known = new Set<number>()
  for (const [i, line] of text.split('\n').slice(0, -1).entries()) {
    const row = read(line)
    if (row.kind === 'bar' && known.has(row.bar.t)) continue
    const why = row.kind === 'fault' ? row.why : row.kind === 'bar' ? orderFault(bars.at(-1), row.bar) : null
    if (why !== null) throw new Error(`${path}:${i + 1}: ${why}; restore this file, nothing else writes it`)
    if (row.kind !== 'bar') continue
    bars.push(row.bar)
    known.add(row.bar.t)
  }
  return bars
}

const orderFault = (before: Bar | undefined, { t }: Bar): string | null =>
  before === undefined || t > before.t
    ? null
    : `expected a bar later than the one before, got ${toIsoInstant(t)}`

const toLine = ({ t, o, h, l, c, v }: Bar): string =>
  `${toIsoInstant(t)},${o},${h},${l},${c},${Number.isNaN(v) ? '' : v}\n`
