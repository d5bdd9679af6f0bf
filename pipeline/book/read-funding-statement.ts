import { z } from 'zod'
import type { FundingInterval } from '#core/replay/bars.ts'
import { parseMoment, spellMoment } from './cell.ts'
import { type Fields, reportFields, type YamlFile } from './yaml.ts'

/** By instrument, that it has no funding, or how often it pays. One that is not stated has a file, and its interval is inferred. */
export type FundingStatements = ReadonlyMap<string, 'none' | readonly FundingInterval[]>

const HOUR_MS = 3_600_000

/** Whole hours that divide a day: every exchange pays on a grid from midnight UTC. */
const HOURS = [1, 2, 3, 4, 6, 8, 12, 24]

/** `8h`. */
export const spellInterval = (ms: number): string => `${ms / HOUR_MS}h`

const every = z.enum(HOURS.map(hours => `${hours}h`)).transform(text => Number.parseInt(text, 10) * HOUR_MS)

const change = z
  .strictObject({ every, from: z.string().transform(parseMoment).pipe(z.number()).default(-Infinity) })
  .transform(({ every: everyMs, from }): FundingInterval => ({ from, everyMs }))

const intervals = z
  .union([
    every.transform((everyMs): FundingInterval[] => [{ from: -Infinity, everyMs }]),
    z.array(change).min(1),
  ])
  .refine(list => list.every(({ from }, i) => (i === 0 ? from === -Infinity : from > list[i - 1]!.from)))

const statement = z
  .union([z.literal('none'), intervals])
  .optional()
  .meta({
    description: 'Whether the instrument has funding, and how often it is paid.',
    expected:
      `none, an interval (${HOURS.map(hours => `${hours}h`).join(', ')}), or intervals in order of time, such as ` +
      '[{ every: 8h }, { every: 4h, from: 2023-10-01T00:00:00Z }]',
  })

/**
 * The part `funding` of the catalogue, about `instruments`. Null if it has a problem, which is reported: then nothing
 * is known about any of them.
 */
export function readFundingStatements(
  file: YamlFile,
  record: Fields,
  instruments: readonly string[],
): FundingStatements | null {
  const shape = Object.fromEntries(instruments.map(instrument => [instrument, statement]))
  if (!reportFields(file, ['funding'], record, shape)) return null
  const stated = z.object(shape).parse(record)
  return new Map(
    Object.entries(stated).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}

/** `8h, and 4h from 2023-10-01T00:00:00Z`. */
export const spellIntervals = (list: readonly FundingInterval[]): string =>
  list
    .map(({ from, everyMs }, i) => `${spellInterval(everyMs)}${i === 0 ? '' : ` from ${spellMoment(from)}`}`)
    .join(', and ')
