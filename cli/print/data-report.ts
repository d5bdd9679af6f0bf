import { toIsoInstant } from '#core/calendar.ts'
import type { DataReport, Finding, SubjectReport } from '#pipeline/report/finding.ts'

export function printReport(report: DataReport, print: (line: string) => void): void {
  for (const subject of report) {
    print(headOf(subject))
    for (const finding of subject.findings) print(`  ${lineOf(finding)}`)
  }
}

function headOf({ subject, file, count, noun, from, to, findings }: SubjectReport): string {
  const span = from === null || to === null ? '' : ` from ${toIsoInstant(from)} to ${toIsoInstant(to)}`
  return `data ${subject}: ${count} ${count === 1 ? noun.slice(0, -1) : noun}${span} (${file})${findings.length === 0 ? ', no findings' : ''}`
}

function lineOf({ severity, code, what, fix, rows, count, accepted }: Finding): string {
  const places = rows.length === 0 ? '' : ` (row ${rows.join(', ')}${count > rows.length ? ', ...' : ''})`
  const end = accepted ?? fix
  return `${accepted === null ? severity : 'accepted'} ${code}${places}: ${what}${end === null ? '' : `: ${end}`}`
}
