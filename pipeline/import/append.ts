/**
 * A table with the rows of a later export that come after its last one. A row that differs from an earlier one is an error, unless
 * its trade was open: history is corrected with consent. No two rows are equal, because equal parts of an entry are numbered.
 */
export function appendRows(before: string, after: string, path: string): string {
  const [[header = '', ...rows], [again, ...more]] = [linesOf(before), linesOf(after)]
  if (header !== again)
    throw new Error(
      `--append: expected the columns ${header} of ${path}, got ${again}: import the whole file with --replace`,
    )
  const [known, grown] = [new Set(rows), [...rows]]
  const last = rows.map(timeOf).reduce((latest, time) => (time > latest ? time : latest), '')
  for (const [i, row] of more.entries()) {
    if (known.has(row)) continue
    // The cells before its exit, which were blank.
    const open = grown.findIndex(each => each.startsWith(`${row.split(',', 3).join()},,`))
    if (open >= 0) grown[open] = row
    else if (timeOf(row) > last) grown.push(row)
    else
      throw new Error(
        `--append: expected row ${i + 2} as it is in ${path}, got ${row}: a corrected trade changes history; import the file with --replace, and build with --restate ${path.replace(/^.*\/|\.csv$/g, '')} --reason TEXT`,
      )
  }
  return [header, ...grown].map(row => `${row}\n`).join('')
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n')

/** The place of a row is its first time. */
const timeOf = (row: string): string => row.split(',').find(cell => /^\d{4}-/.test(cell)) ?? ''
