// The names of lines at their ends, right of the plot: in the order of the ends, and none over another.
import { mean, sum } from 'd3-array'
import { emsOf } from './axes.ts'
import { escapeText, type Plot, SIDES, tenth } from './svg.ts'

export type LineEnd = {
  readonly name: string
  readonly kind: string
  /** What stands behind the name, such as the last value. */
  readonly value: string
  /** Where the line ends. */
  readonly y: number
}

type Label = LineEnd & { readonly rows: readonly string[] }

const ROW = 12.5
const FONT = 11
const GAP = 10
const EMS = (SIDES.full.right - GAP) / FONT

/** One label a line, the earlier ones if the plot is too low for all. A name that is too long is above its value, or cut. */
export function endLabels(ends: readonly LineEnd[], plot: Plot): string {
  const [low, high] = [plot.top - ROW / 2, plot.bottom + ROW / 2]
  const spread = ends.map(end => ({ ...end, rows: rowsOf(end) }))
  const fits = sum(spread, ({ rows }) => rows.length) * ROW <= high - low
  const labels = fits ? spread : ends.map(end => ({ ...end, rows: [inOneRow(end)] }))
  const shown = labels.slice(0, fits ? undefined : Math.floor((high - low) / ROW))
  const placed = stacked(shown, low, high)
  const leaders = placed.map(({ y, top, rows }) => {
    const middle = tenth(top + (rows.length * ROW) / 2)
    return Math.abs(middle - y) < 2 ? '' : `M${plot.right + 1} ${tenth(y)}L${plot.right + GAP - 2} ${middle}`
  })
  return `<g class="names"><path class="ticks" d="${leaders.join('')}"/>${placed.map(label => textOf(label, plot)).join('')}</g>`
}

function textOf({ name, kind, rows, top }: Label & { readonly top: number }, { right }: Plot): string {
  const x = right + GAP
  const [first, ...others] = rows.map(escapeText)
  const below = others.map(row => `<tspan x="${x}" dy="${ROW}">${row}</tspan>`).join('')
  const title = rows[0]!.includes('…') ? `<title>${escapeText(name)}</title>` : ''
  return `<text class="name ${kind}" x="${x}" y="${tenth(top + ROW * 0.8)}">${title}${first}${below}</text>`
}

function rowsOf({ name, kind, value }: LineEnd): readonly string[] {
  const whole = `${name} ${value}`.trim()
  return emsOf(whole) <= roomOf(kind) ? [whole] : [cut(name, roomOf(kind)), value]
}

const inOneRow = ({ name, kind, value }: LineEnd): string =>
  `${cut(name, roomOf(kind) - emsOf(` ${value}`))} ${value}`.trim()

/** The main line's name is bold. */
const roomOf = (kind: string): number => (kind === 'main' ? EMS / 1.1 : EMS)

function cut(name: string, ems: number): string {
  if (emsOf(name) <= ems) return name
  const characters = Array.from(name)
  while (characters.length > 0 && emsOf(`${characters.join('')}…`) > ems) characters.pop()
  return `${characters.join('').trimEnd()}…`
}

type Block = { readonly labels: readonly Label[]; readonly top: number; readonly height: number }

/** Labels that would overlap form a block, as near to the ends of their lines as it can be, from `low` to `high`. */
function stacked(labels: readonly Label[], low: number, high: number) {
  const blocks: Block[] = []
  for (const label of labels.toSorted((a, b) => a.y - b.y)) {
    let block = blockOf([label], low, high)
    for (
      let above = blocks.at(-1);
      above !== undefined && above.top + above.height > block.top;
      above = blocks.at(-1)
    ) {
      blocks.pop()
      block = blockOf([...above.labels, ...block.labels], low, high)
    }
    blocks.push(block)
  }
  return blocks.flatMap(({ labels, top }) =>
    labels.map((label, i) => ({ ...label, top: top + heightOf(labels.slice(0, i)) })),
  )
}

const heightOf = (labels: readonly Label[]): number => ROW * sum(labels, ({ rows }) => rows.length)

function blockOf(labels: readonly Label[], low: number, high: number): Block {
  const height = heightOf(labels)
  const wanted = labels.map((label, i) => label.y - heightOf(labels.slice(0, i)) - heightOf([label]) / 2)
  return { labels, height, top: Math.max(Math.min(mean(wanted)!, high - height), low) }
}
