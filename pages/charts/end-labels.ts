// The names of lines at their ends, right of the plot: in the order of the ends, and none over another.
import { mean, sum } from 'd3-array'
import { emsOf } from './axes.ts'
import { escapeText, type Plot, SIDES, tenth } from './svg.ts'

/** `value` stands behind the name; `y` is where the line ends. */
export type LineEnd = Readonly<Record<'name' | 'kind' | 'value', string>> & { readonly y: number }

type Label = LineEnd & { readonly rows: readonly string[] }

const ROW = 12.5
const GAP = 10
const EMS = (SIDES.full.right - GAP) / 11

/** A label for each line, or for the earlier ones if the plot is too low for all. Those without room for more have one row. */
export function endLabels(ends: readonly LineEnd[], plot: Plot): string {
  const most = Math.floor((plot.bottom - plot.top) / ROW) + 1
  let spare = most - ends.length
  const labels = ends.slice(0, most).map((end): Label => {
    const rows = rowsOf(end, spare)
    spare -= rows.length - 1
    return { ...end, rows }
  })
  labels.sort((a, b) => a.y - b.y)
  const places = apart(labels, plot)
  const x = plot.right + GAP
  const leaders = labels.map(({ y, rows }, i) => {
    const middle = places[i]! + ((rows.length - 1) * ROW) / 2
    return Math.abs(middle - y) < 2 ? '' : `M${plot.right + 1} ${tenth(y)}L${x - 2} ${tenth(middle)}`
  })
  const texts = labels.map(({ name, kind, rows }, i) => {
    const title = rows.join('').startsWith(name) ? '' : `<title>${escapeText(name)}</title>`
    const [first, ...others] = rows.map(row => escapeText(row.trim()))
    const below = others.map(row => `<tspan x="${x}" dy="${ROW}">${row}</tspan>`).join('')
    return `<text class="name ${kind}" x="${x}" y="${tenth(places[i]!)}" dy=".35em">${title}${first}${below}</text>`
  })
  return `<g class="names"><path class="ticks" d="${leaders.join('')}"/>${texts.join('')}</g>`
}

/** The name in two rows at most and the value behind or below it, or all in one row if there are not as many to `spare`. */
function rowsOf({ name, kind, value }: LineEnd, spare: number): string[] {
  const room = roomOf(kind)
  const parts = name.split(/(?<=[ _/-])/)
  const upTo = (count: number) => parts.slice(0, count).join('')
  const fitting = parts.findLastIndex((_, i) => emsOf(upTo(i + 1).trimEnd()) <= room) + 1
  const first = upTo(Math.max(fitting, 1)) // a long word is cut
  const names = [first, name.slice(first.length)].filter(row => row !== '').map(row => cut(row, room))
  const last = `${names.at(-1) ?? ''} ${value}`.trimStart()
  const rows = emsOf(last) <= room ? [...names.slice(0, -1), last] : [...names, value]
  return rows.length > spare + 1 ? [`${cut(name, room - emsOf(` ${value}`))} ${value}`] : rows
}

/** The main line's name is bold. */
const roomOf = (kind: string): number => (kind === 'main' ? EMS / 1.1 : EMS)

function cut(name: string, ems: number): string {
  if (emsOf(name.trimEnd()) <= ems) return name
  const characters = Array.from(name)
  while (characters.length > 0 && emsOf(`${characters.join('')}…`) > ems) characters.pop()
  return `${characters.join('').trimEnd()}…`
}

/** Where the first rows of labels are: labels that would overlap form a block, as near to their ends, which ascend, as it can be. */
function apart(labels: readonly Label[], { top, bottom }: Plot): number[] {
  const blocks: (readonly Label[])[] = []
  const heightOf = (block: readonly Label[]) => ROW * sum(block, ({ rows }) => rows.length)
  const below = (block: readonly Label[], i: number) => heightOf(block.slice(0, i))
  const firstOf = (block: readonly Label[]) => {
    const first = mean(block, ({ y, rows }, i) => y - below(block, i) - ((rows.length - 1) * ROW) / 2)!
    return Math.max(Math.min(first, bottom - heightOf(block) + ROW), top)
  }
  for (const label of labels) {
    let block: readonly Label[] = [label]
    for (let above = blocks.at(-1); above !== undefined; above = blocks.at(-1)) {
      if (firstOf(above) + heightOf(above) <= firstOf(block)) break
      block = [...blocks.pop()!, ...block]
    }
    blocks.push(block)
  }
  return blocks.flatMap(block => block.map((_, i) => firstOf(block) + below(block, i)))
}
