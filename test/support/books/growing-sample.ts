// The sample book as an operator's book grows: at each night every file ends where the night is.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DAY_MS, type EpochDay, toIsoDate } from '#core/calendar.ts'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'

/** Text files by their path in the book. */
export type Texts = Readonly<Record<string, string>>

export const BARS = 'bars/BTCUSDT-PERP/4h.csv'
export const RETURNS = 'returns/willow.csv'
export const CATALOGUE = 'catalogue.yaml'
const SERIES = [BARS, 'funding/BTCUSDT-PERP.csv', RETURNS]
const LEDGERS = ['ledgers/rowan.csv', 'ledgers/willow.csv']

export type GrowingSample = {
  readonly folder: string
  /** The files that change from night to night, as they are when a day has ended, and the catalogue. */
  readonly asOf: (day: EpochDay) => Texts
  /** Writes files over those that are there. */
  readonly write: (texts: Texts) => Promise<void>
}

/** Makes the sample book once, in a folder that is not there yet; the nights are cut from it. */
export async function createGrowingSample(folder: string): Promise<GrowingSample> {
  await writeSampleBook(folder)
  await rm(join(folder, 'program.yaml')) // the nights here are about histories, and a program costs each some time
  const paths = [...SERIES, ...LEDGERS, CATALOGUE]
  const whole = await Promise.all(
    paths.map(async path => [path, await readFile(join(folder, path), 'utf8')] as const),
  )
  return {
    folder,
    asOf: day => Object.fromEntries(whole.map(([path, text]) => [path, cut(path, text, day)])),
    write: async texts => {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
    },
  }
}

function cut(path: string, text: string, day: EpochDay): string {
  const end = toIsoDate(day + 1) // moments are ISO, so they compare as text
  if (SERIES.includes(path)) return rewriteRows(text, row => (row[0]! < end ? row : null))
  if (LEDGERS.includes(path)) return rewriteRows(text, row => tradeAsOf(row, end))
  return text
}

/** A trade that is open has neither exit nor result yet; one that did not begin is in no ledger. */
function tradeAsOf(row: readonly string[], end: string): readonly string[] | null {
  const [side = '', entryTime = '', entryPrice = '', exitTime = '', , , known = ''] = row
  if (entryTime >= end) return null
  if (exitTime < end) return row
  const isStop = Number(known) > 1 // rowan knows the stop, willow the account's return
  return [side, entryTime, entryPrice, '', '', '', isStop ? known : '']
}

/** Rewrites the rows of a CSV text one by one, or drops them; the header stays. */
export function rewriteRows(
  text: string,
  rewrite: (row: readonly string[], index: number) => readonly string[] | null,
): string {
  const [header = '', ...lines] = text.trimEnd().split('\n')
  const rows = lines.map((line, i) => rewrite(line.split(','), i)?.join()).filter(row => row !== undefined)
  return [header, ...rows].map(line => `${line}\n`).join('')
}

/** The version that is built in the night after a day. */
export const versionAfter = (day: EpochDay): string => `${toIsoDate(day + 1)}T00:15:00Z`

/** The moment of that night. */
export const nightMs = (day: EpochDay): number => (day + 1) * DAY_MS + 15 * 60_000
