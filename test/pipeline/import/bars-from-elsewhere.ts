import { formatProblem } from '#pipeline/book/problem.ts'
import { createReading } from '#pipeline/book/reading.ts'
import { importBars } from '#pipeline/import/bars.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'

type Rules = Partial<Parameters<typeof importBars>[1]>

/** Long after the bars of every test. */
export const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

/** Imports files of one instrument: the bars and what was found, or every problem. */
export async function importing(
  dir: string,
  paths: readonly string[],
  rules: Rules = {},
  { nowMs = NOW_MS, held = null as Buffer | null } = {},
) {
  const reading = createReading(dir, { nowMs, held })
  const order = {
    paths,
    drop_last: false,
    drop_impossible: false,
    timeframe: null,
    readers: [],
    ...rules,
  }
  const imported = await importBars(reading, order)
  return { imported, problems: reading.problems.sorted().map(formatProblem) }
}

/** The same of files that are made for the test; a text alone is in memory. */
export async function importingFiles(
  files: Readonly<Record<string, string | Uint8Array>>,
  rules: Rules = {},
  nowMs: number = NOW_MS,
) {
  const [[, first = ''] = [], ...others] = Object.entries(files)
  const held = others.length === 0 && typeof first === 'string' ? Buffer.from(first) : null
  const dir = held === null ? await temporaryFolder() : ''
  if (held === null) await writeFiles(dir, files)
  const { imported, problems } = await importing(dir, Object.keys(files), rules, { nowMs, held })
  return {
    problems,
    format: imported?.formats[0] ?? null,
    timeframe: imported?.timeframe ?? null,
    rows: imported === null ? null : rowsOf(imported.bars),
    findings: imported?.findings.map(({ kind, count }) => [kind, count]) ?? [],
    gaps: imported?.gaps ?? [],
  }
}

type Imported = NonNullable<Awaited<ReturnType<typeof importBars>>>

/** `[t, o, h, l, c, v]` of each bar. */
export const rowsOf = ({ t, o, h, l, c, v }: Imported['bars']): number[][] =>
  Array.from(t, (ms, i) => [ms, o[i]!, h[i]!, l[i]!, c[i]!, v[i]!])
