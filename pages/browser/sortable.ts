// Tables that a reader sorts by a click on a heading, and filters by typing.

/** Makes every `table[data-sortable]` sortable, and filters each by the `input[data-filter]` that names it. */
export function startTables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table[data-sortable]')) makeSortable(table)
  for (const input of document.querySelectorAll<HTMLInputElement>('input[data-filter]')) makeFilter(input)
}

function makeSortable(table: HTMLTableElement): void {
  const body = table.tBodies[0]!
  const headings = [...table.tHead!.rows[0]!.cells]
  headings.forEach((heading, column) => {
    if (heading.dataset.sortable === 'no') return
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...heading.childNodes)
    heading.append(button)
    button.addEventListener('click', () => {
      const rows = [...body.rows].map(row => ({ row, key: keyOf(row.cells[column]!) }))
      const isText = rows.some(({ key }) => typeof key === 'string') // words begin with A, numbers with the largest
      const isAscending = heading.ariaSort === null ? isText : heading.ariaSort === 'descending'
      for (const each of headings) each.ariaSort = null
      heading.ariaSort = isAscending ? 'ascending' : 'descending'
      const sign = isAscending ? 1 : -1
      body.append(...rows.sort((a, b) => compare(a.key, b.key, sign)).map(({ row }) => row))
    })
  })
}

/** The exact number of a figure, null if it is not defined, or else the text. */
function keyOf(cell: HTMLTableCellElement): number | string | null {
  const value = cell.querySelector('data')?.value
  if (value === undefined) return cell.textContent.trim()
  return value === '' ? null : Number(value)
}

/** What is not defined comes last in both directions. */
function compare(a: number | string | null, b: number | string | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
  return sign * String(a).localeCompare(String(b), 'en')
}

function makeFilter(input: HTMLInputElement): void {
  const table = document.getElementById(input.dataset.filter ?? '') as HTMLTableElement // as the page names it
  const matches = document.getElementById(`${table.id}-matches`)
  input.addEventListener('input', () => {
    const wanted = input.value.trim().toLowerCase()
    const rows = [...table.tBodies[0]!.rows]
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted)
    const count = rows.filter(row => !row.hidden).length
    if (matches !== null) matches.textContent = wanted === '' ? '' : `${count} of ${rows.length}`
  })
}
