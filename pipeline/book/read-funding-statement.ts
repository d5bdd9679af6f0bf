import { z } from 'zod'
import type { FundingInterval } from '#core/replay/bars.ts'
import { parseMoment, spellMoment } from './cell.ts'
import { type Fields, reportFields, type YamlFile } from './yaml.ts'

/** What the catalogue says of the funding of an instrument: that it has none, or how often payments come. */
export type FundingStatement = 'none' | readonly FundingInterval[]

/** By instrument. An instrument that is not stated has a funding file, and its interval is inferred. */
export type FundingStatements = ReadonlyMap<string, FundingStatement>

const HOUR_MS = 3_600_000

/** Whole hours that divide a day: every exchange pays on a grid from midnight UTC. */
const HOURS = [1, 2, 3, 4, 6, 8, 12, 24]

/** `8h`. */
export const spellInterval = (ms: number): string => `${ms / HOUR_MS}h`

const every = z.enum(HOURS.map(hours => `${hours}h`)).transform(text => Number.parseInt(text, 10) * HOUR_MS)

const change = z.strictObject({
  every,
  from: z
    .string()
    .transform(parseMoment)
    .refine(ms => !Number.isNaN(ms))
    .optional(),
})

const isAscending = (intervals: readonly FundingInterval[]): boolean =>
  intervals.every(({ from }, i) =>
    i === 0 ? from === Number.NEGATIVE_INFINITY : from > intervals[i - 1]!.from,
  )

const intervals = z
  .union([every.transform(everyMs => [{ every: everyMs, from: undefined }]), z.array(change).min(1)])
  .transform(list =>
    list.map(({ every: everyMs, from = Number.NEGATIVE_INFINITY }): FundingInterval => ({ from, everyMs })),
  )
  .refine(isAscending)

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
