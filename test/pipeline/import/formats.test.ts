import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BARS } from '#pipeline/import/bar-formats.ts'
import { type Kind, reasonIn } from '#pipeline/import/format.ts'
import { RETURNS } from '#pipeline/import/returns.ts'
import { LIST_OF_TRADES, TRADES } from '#pipeline/import/trade-formats.ts'

const KINDS: Readonly<Record<string, Kind>> = {
  Bars: BARS,
  Trades: TRADES,
  'Lists of trades, two rows each': LIST_OF_TRADES,
  Returns: RETURNS,
}

test('every column of a declared format is read as a role, checked against another column, or ignored for a reason', () => {
  for (const { formats, roles, checked } of Object.values(KINDS))
    for (const { columns } of formats)
      for (const use of columns.map(column => column.use)) {
        const known = [...Object.keys(roles), ...Object.keys(checked), 'own_fees', 'own_funding']
        expect(known.includes(use) || reasonIn(use) !== undefined, use).toBe(true)
      }
})

/** The formats of a kind, for people: a row for each. */
function describeFormats({ formats, checked }: Kind): string {
  const lines = formats.map(({ name, columns, hasHeader, times, results }) => {
    const all = columns.map(({ name: pattern, many, use }, i) => {
      const [why, what] = [reasonIn(use), checked[use]]
      const said = why ? `ignored: ${why}` : what ? `checked: ${what}` : `read as \`${use}\``
      return `\`${hasHeader ? `${pattern.replaceAll('|', '\\|')}${many}` : i + 1}\` ${said}`
    })
    const costs = results && 'results are after costs'
    const notes = [hasHeader ? '' : 'no header', times && `times are ${times}s`, costs]
    return `| ${name} | ${all.join('; ')} | ${notes.filter(Boolean).join(', ')} |`
  })
  return ['| Format | Columns | |', '|---|---|---|', ...lines].join('\n')
}

test('docs/importing.md lists the formats as they are declared', async () => {
  const path = join(import.meta.dirname, '../../../docs/importing.md')
  const text = await readFile(path, 'utf8')
  const lists = Object.entries(KINDS).map(([title, kind]) => `### ${title}\n\n${describeFormats(kind)}\n`)
  const between = /(<!-- formats: [^\n]*-->\n)[\s\S]*(<!-- end of formats -->)/
  const right = text.replace(between, (_, begin, end) => `${begin}\n${lists.join('\n')}\n${end}`)
  if (process.env.UPDATE_GOLDEN === '1') await writeFile(path, right)
  else expect(text).toBe(right)
})
