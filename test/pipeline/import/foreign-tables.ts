// Files in every declared format, made from known bars and trades, and what may become of them on their way: another spelling,
// order, unit, language. An import returns what is known, or refuses.
import { type Format, reasonIn } from '#pipeline/import/format.ts'
import { createRandom } from '#pipeline/sample/random.ts'

export type Dice = {
  /** A whole number below `n`. */
  readonly below: (n: number) => number
  readonly pick: <Item>(items: readonly Item[]) => Item
  /** A number with so many decimals. */
  readonly number: (from: number, to: number, decimals: number) => number
}

export function createDice(seed: number): Dice {
  const { uniform } = createRandom(seed)
  const below = (n: number): number => Math.floor(uniform() * n)
  return {
    below,
    pick: items => items[below(items.length)]!,
    number: (from, to, decimals) => Number((from + (to - from) * uniform()).toFixed(decimals)),
  }
}

/** A table before it is a text: columns by what they are. */
export type Table = {
  readonly names: readonly string[] | null
  readonly uses: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export type File = { readonly name: string; readonly text: string | Uint8Array }

/** What is known of a row, by role. */
export type Known = Readonly<Record<string, string>>

/** Writes known rows in a format; optional columns are there by chance. */
export function tableIn(format: Format, known: readonly Known[], dice: Dice): Table {
  const columns = columnsOf(format, dice)
  const uses = columns.map(({ use }) => use)
  const cellOf = (row: Known, use: string, i: number): string =>
    reasonIn(use) === undefined ? spellPart(row, uses, i) : String(dice.below(1000))
  return {
    names: !format.hasHeader ? null : columns.map(({ name }) => name),
    uses,
    rows: known.map(row => uses.map((use, i) => cellOf(row, use, i))),
  }
}

const columnsOf = ({ columns, hasHeader }: Format, dice: Dice) =>
  columns
    .filter(({ many, use }) => !hasHeader || many === '' || use === 'is_short' || dice.below(2) === 0)
    .map(({ name, use }) => ({ name: sampleName(name), use }))

/** One of two columns of one role has a part of it. */
function spellPart(row: Known, uses: readonly string[], i: number): string {
  const use = uses[i]!
  const places = uses.flatMap((each, place) => (each === use ? [place] : []))
  const text = row[use] ?? ''
  if (places.length === 1 || text === '') return text
  if (use === 't') return text.split('T')[places.indexOf(i)] ?? ''
  return String(Number(text) / places.length)
}

/** A name that fits a pattern of a declaration. */
const sampleName = (key: string): string =>
  key
    .replaceAll(/\(\?:[^()]*\)\?/g, '')
    .replaceAll(/\(\?:([^()|]*)[^()]*\)/g, '$1')
    .replaceAll(/\(\?![^()]*\)/g, '')
    .split('|')[0]!
    .replaceAll(/\[a-z\]\{0,5\}/g, '')
    .replaceAll(/\[a-z\]\{2,5\}/g, 'usd')
    .replaceAll(/\\w[+*]/g, 'x')

export const csvOf = ({ names, rows }: Table, delimiter = ','): string => {
  const quoted = (cell: string): string =>
    cell.includes(delimiter) || cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell
  return [...(names === null ? [] : [names]), ...rows]
    .map(row => `${row.map(quoted).join(delimiter)}\n`)
    .join('')
}

export function jsonOf({ names, rows }: Table): string {
  const value = (text: string): unknown =>
    text === '' ? null : /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  const lists = rows.map(row => row.map(value))
  return JSON.stringify(
    names === null ? lists : lists.map(row => Object.fromEntries(names.map((name, i) => [name, row[i]]))),
  )
}

/** A table whose cells are spelled in another way. */
const respell = (
  table: Table,
  spell: (text: string, i: number, row: readonly string[]) => string,
): Table => ({
  ...table,
  rows: table.rows.map(row => row.map((cell, i) => spell(cell, i, row))),
})

/** Cells of the columns of certain uses, unless they are blank, in another spelling. */
const changed =
  (uses: RegExp, spell: (text: string) => string) =>
  (table: Table): Table =>
    respell(table, (cell, i) => (uses.test(table.uses[i]!) && cell !== '' ? spell(cell) : cell))

const PRICES = /^[ohlc]$|price$/
const WORDS = /^(?:is_short|is_open|side|type)$/

const withColumn = (table: Table, name: string, cell: (i: number) => string): Table => ({
  names: table.names && [...table.names, name],
  uses: [...table.uses, '(extra)'],
  rows: table.rows.map((row, i) => [...row, cell(i)]),
})

function withoutColumn(table: Table, at: number): Table {
  const rest = <Item>(items: readonly Item[]): Item[] => items.filter((_, i) => i !== at)
  return { names: table.names && rest(table.names), uses: rest(table.uses), rows: table.rows.map(rest) }
}

/** Changes of a table that change nothing of what it means, or make it what nobody can read. */
export const MUTATIONS: Readonly<Record<string, (table: Table, dice: Dice) => Table>> = {
  none: table => table,
  reversed: table => ({ ...table, rows: table.rows.toReversed() }),
  shuffled: (table, dice) => ({
    ...table,
    rows: table.rows
      .map(row => [dice.below(1e6), row] as const)
      .sort(([a], [b]) => a - b)
      .map(([, row]) => row),
  }),
  'a row twice': (table, dice) => ({ ...table, rows: [...table.rows, dice.pick(table.rows)] }),
  'capital names': table => ({
    ...table,
    names: table.names?.map(name => (name.length > 1 ? name.toUpperCase() : name)) ?? null,
  }),
  'another language': table => ({
    ...table,
    names: table.names?.map((_, i) => `Spalte ${String.fromCharCode(65 + i)}`) ?? null,
  }),
  'one name in another language': (table, dice) => {
    const at = dice.below(table.uses.length)
    return { ...table, names: table.names?.map((name, i) => (i === at ? 'Wert' : name)) ?? null }
  },
  'a column less': (table, dice) =>
    table.names === null ? table : withoutColumn(table, dice.below(table.uses.length)),
  'a column of texts more': (table, dice) => withColumn(table, 'Bemerkung', () => dice.pick(['a', 'b', ''])),
  'a column of numbers more': (table, dice) =>
    withColumn(table, dice.pick(['Fees', 'Gebühr', 'swap', 'volume2', 'Netto']), () =>
      String(dice.number(0, 9, 2)),
    ),
  'decimal commas': changed(PRICES, text => text.replace('.', ',')),
  'thousands separators': changed(PRICES, text => text.replace(/^(\d+)(\d{3})(?=\.|$)/, '$1,$2')),
  units: changed(PRICES, text => `${text} USDT`),
  'a plus sign': changed(/^pnl$/, text => (Number(text) > 0 ? `+${text}` : text)),
  'another minus sign': changed(/^pnl$/, text => text.replace('-', '\u2212')),
  blanks: table => respell(table, cell => ` ${cell} `),
  seconds: table => eachTime(table, text => epoch(text, 1e-3)),
  microseconds: table => eachTime(table, text => epoch(text, 1e3)),
  'no zone': table => eachTime(table, text => text.replace(/T(.*)Z$/, ' $1')),
  'another offset': table => eachTime(table, inOffset),
  'serial dates': table => eachTime(table, text => String(Math.floor(msOf(text) / 86_400_000) + 25_569)),
}

const isTime = ({ uses }: Table, i: number): boolean =>
  ['t', 'end', 'time', 'entry_time', 'exit_time'].includes(uses[i]!) &&
  uses.filter(use => use === uses[i]).length === 1

const eachTime = (table: Table, spell: (text: string) => string): Table =>
  respell(table, (cell, i) => (isTime(table, i) && cell !== '' ? spell(cell) : cell))

const msOf = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Date.parse(text))
const epoch = (text: string, per: number): string => String(Math.floor(msOf(text) * per))
const inOffset = (text: string): string =>
  `${new Date(msOf(text) + 7_200_000).toISOString().slice(0, 19)}+02:00`

/** Changes of what words, sides, costs and volumes of a table say: what an import must notice. */
export const LIES: Readonly<Record<string, (table: Table, dice: Dice) => Table>> = {
  'the time in the column of the volume': table => {
    const t = table.uses.indexOf('t')
    return respell(table, (cell, i, row) => (table.uses[i] === 'v' ? epoch(row[t]!, 1) : cell))
  },
  'a bar twice, with another close': (table, dice) => {
    const at = table.uses.indexOf('c')
    const other = dice.pick(table.rows).map((cell, i) => (i === at ? String(Number(cell) * 1.00001) : cell))
    return at < 0 ? table : { ...table, rows: [...table.rows, other] }
  },
  'words in capitals': changed(WORDS, text => text.toUpperCase()),
  'words as pandas writes them': changed(WORDS, text =>
    text.replace(/^[tf](?=rue|alse)/, letter => letter.toUpperCase()),
  ),
  'words as numbers': changed(WORDS, text => NUMBERS[text] ?? text),
  'words of another language': changed(WORDS, text => GERMAN[text] ?? text),
  'the sides of the closing orders': table => {
    if (!table.uses.some(use => use === 'pnl' || use === 'account_return')) return table // nothing could show it
    return table.uses.some(use => SIDES.test(use))
      ? changed(SIDES, text => text.replace(/long|short|true|false/, word => OTHER[word]!))(table)
      : changed(/^quantity$/, text => String(-Number(text)))(table)
  },
  'fees as losses': changed(/^fees$/, text => String(-Number(text))),
}

const SIDES = /^(?:side|is_short|type)$/
const OTHER: Readonly<Record<string, string>> = { long: 'short', short: 'long', true: 'false', false: 'true' }
const NUMBERS: Readonly<Record<string, string>> = { true: '1', false: '0' }
const GERMAN: Readonly<Record<string, string>> = {
  true: 'wahr',
  false: 'falsch',
  long: 'Kauf',
  short: 'Verkauf',
}

const plain = (table: Table): File => ({ name: 'a.csv', text: csvOf(table) })

/** What a file may be packed as, as often as it is listed. */
const FORMS: readonly ((table: Table) => File)[] = [
  ...[plain, plain, plain],
  table => ({ name: 'a.json', text: jsonOf(table) }),
  table => ({ name: 'a.csv', text: csvOf(table, ';') }),
  table => ({ name: 'a.tsv', text: csvOf(table, '\t') }),
  table => ({ name: 'a.csv', text: `\ufeff${csvOf(table).replaceAll('\n', '\r\n')}` }),
  table => ({ name: 'a.csv', text: `${table.names === null ? '' : 'made by a tool\n'}${csvOf(table)}` }),
  table => ({ name: 'a.jsonl', text: `${JSON.parse(jsonOf(table)).map(JSON.stringify).join('\n')}\n` }),
]

export const fileOf = (table: Table, dice: Dice): File => dice.pick(FORMS)(table)

/** A file that ends somewhere. */
export const cutAt = ({ name, text }: File, dice: Dice): File =>
  typeof text === 'string' ? { name, text: text.slice(0, dice.below(text.length)) } : { name, text }
