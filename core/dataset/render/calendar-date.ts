import type { EpochDay } from '#core/calendar.ts'
import { type ByteWriter, reserve } from './byte-writer.ts'

const ZERO = 48
const DASH = 45

/** Writes an epoch day as `YYYY-MM-DD`, for years 0 to 9999; by arithmetic, because a Date object costs ten times as much. */
export function writeDate(writer: ByteWriter, day: EpochDay): void {
  // Years of this calendar begin in March, so that the leap day is the last one: Hinnant, "chrono-compatible
  // low-level date algorithms", civil_from_days.
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const date = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  reserve(writer, 10)
  writeTwo(writer, Math.floor(year / 100))
  writeTwo(writer, year % 100)
  writer.bytes[writer.length++] = DASH
  writeTwo(writer, month)
  writer.bytes[writer.length++] = DASH
  writeTwo(writer, date)
}

function writeTwo(writer: ByteWriter, value: number): void {
  const tens = Math.floor(value / 10)
  writer.bytes[writer.length++] = ZERO + tens
  writer.bytes[writer.length++] = ZERO + value - tens * 10
}
