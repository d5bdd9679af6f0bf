import { z } from 'zod'
import { fieldProblems, got } from './field.ts'
import type { Path } from './locate.ts'
import type { YamlFile } from './yaml-file.ts'

/** A map of a YAML file before its fields are looked at. */
export type Fields = Readonly<Record<string, unknown>>

export const mapSchema = z.record(z.string(), z.unknown())

/** The value as a map; null, and a problem, where it is none. */
export function toMap(file: YamlFile, path: Path, value: unknown): Fields | null {
  const map = mapSchema.safeParse(value).data
  if (map === undefined) file.report(path, `expected a map, got ${got(value)}`)
  return map ?? null
}

/** Reports all problems of a record's fields; true where there are none. */
export function reportFields(file: YamlFile, path: Path, record: Fields, shape: z.ZodRawShape): boolean {
  const problems = fieldProblems(shape, record)
  for (const { key, part, message } of problems) file.report([...path, key], message, part)
  return problems.length === 0
}

/** The record as its shape types it; null where one of its fields has a problem, which is reported. */
export function soundFields<Shape extends z.ZodRawShape>(
  file: YamlFile,
  path: Path,
  record: Fields,
  shape: Shape,
) {
  return reportFields(file, path, record, shape) ? z.object(shape).parse(record) : null
}

/** The maps of a list as their shape types them; null where one has a problem, or where the value is no list. */
export function soundEntries<Shape extends z.ZodRawShape>(
  file: YamlFile,
  path: Path,
  value: unknown,
  shape: Shape,
) {
  if (!Array.isArray(value)) return null
  const entries = value.map((entry: unknown, i) => {
    const record = toMap(file, [...path, i], entry)
    return record && soundFields(file, [...path, i], record, shape)
  })
  const sound = entries.filter(entry => entry !== null)
  return sound.length === entries.length ? sound : null
}
