// Tables that a reader sorts by a click on a heading, and filters by controls whose values the address keeps.
import { replaceQuery } from './dom.ts'

/** Makes every `table[data-sortable]` sortable, and filters each by the `form[data-filter]` that names it. */
export function startTables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table[data-sortable]')) makeSortable(table)
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-filter]')) makeFilter(form)
}

function makeSortable(table: HTMLTableElement): void {
  const body = table.tBodies[0]!
  const headings = [...table.tHead!.rows[0]!.cells]
  headings.forEach((heading, column) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...heading.childNodes)
    heading.append(button)
    button.addEventListener('click', () => {
      const rows = [...body.rows].map(row => ({
        row,
        key: keyOf(row.cells[column]!),
        rank: Number(row.dataset.rank ?? 0),
      }))
      const isText = rows.some(({ key }) => typeof key === 'string') // words begin with A, numbers with the largest
      const isAscending = heading.ariaSort === null ? isText : heading.ariaSort === 'descending'
      for (const each of headings) each.ariaSort = null
      heading.ariaSort = isAscending ? 'ascending' : 'descending'
      const sign = isAscending ? 1 : -1
      body.append(
        ...rows.sort((a, b) => a.rank - b.rank || compare(a.key, b.key, sign)).map(({ row }) => row),
      )
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

/** Whether a row has what a control asks for: one of the words of its `data` attribute unless there is a rule here. */
const RULES: Readonly<Record<string, (row: HTMLTableRowElement, wanted: string) => boolean>> = {
  search: ({ textContent }, wanted) => textContent.toLowerCase().includes(wanted.trim().toLowerCase()),
  min_days: ({ dataset }, wanted) => Number(dataset.days) >= Number(wanted),
}

function makeFilter(form: HTMLFormElement): void {
  const table = document.getElementById(form.dataset.filter ?? '') as HTMLTableElement // as the page names it
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[name]')]
  const names = fields.map(({ name }) => name)
  const given = new URLSearchParams(location.search)
  for (const field of fields) {
    field.value = given.get(field.name) ?? ''
    if (field.value === '' && field instanceof HTMLSelectElement) field.selectedIndex = 0 // no option has the value
  }
  const apply = (): void => {
    const asked = fields.filter(({ value }) => value.trim() !== '')
    const rows = [...table.tBodies[0]!.rows]
    for (const row of rows)
      row.hidden = !asked.every(({ name, value }) =>
        RULES[name] ? RULES[name](row, value) : row.dataset[name]?.split(' ').includes(value),
      )
    const [all, count] = [`${rows.length} strategies`, rows.filter(row => !row.hidden).length]
    document.getElementById(`${table.id}-matches`)!.textContent =
      asked.length === 0 ? all : `${count} of ${all}`
  }
  form.addEventListener('submit', event => event.preventDefault())
  form.addEventListener('input', () => {
    apply()
    const query = new URLSearchParams(
      fields.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
    )
    replaceQuery(names, `?${query}`)
  })
  apply()
}
