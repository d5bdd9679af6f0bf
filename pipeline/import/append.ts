/**
 * A table with the rows of a later export that come after its last one. A row that differs from an earlier one is an error, unless
 * its trade was open: history is corrected with consent. The place of a row is its first time.
 */
export function appendRows(
  before: string,
  after: string,
  { path, id }: { readonly path: string; readonly id: string },
): string {
  const [[header = '', ...rows], [again = '', ...more]] = [linesOf(before), linesOf(after)]
  if (header !== again)
    throw new Error(
      `--append: expected the columns ${header} of ${path}, got ${again}: import the whole file with --replace`,
    )
  const names = header.split(',')
  const time = Math.max(names.indexOf('entry_time'), names.indexOf('t'))
  const exit = names.indexOf('exit_time')
  const timeOf = (row: string): string => row.split(',')[time] ?? ''
  const last = rows.reduce((latest, row) => (timeOf(row) > latest ? timeOf(row) : latest), '')
  const left = new Map([...Map.groupBy(rows, row => row)].map(([row, copies]) => [row, copies.length]))
  const grown = [...rows]
  for (const [i, row] of more.entries()) {
    const copies = left.get(row) ?? 0
    const open = exit < 0 ? -1 : grown.findIndex(each => each.startsWith(`${startOf(row, exit)},,`))
    if (copies > 0) left.set(row, copies - 1)
    else if (open >= 0) grown[open] = row
    else if (timeOf(row) > last) grown.push(row)
    else
      throw new Error(
        `--append: expected row ${i + 2} as it is in ${path}, got ${row}: a corrected trade changes history; import the file with --replace, and build with --restate ${id} --reason TEXT`,
      )
  }
  return [header, ...grown].map(row => `${row}\n`).join('')
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n')

/** The cells of a row before its exit. */
const startOf = (row: string, exit: number): string => row.split(',').slice(0, exit).join()
