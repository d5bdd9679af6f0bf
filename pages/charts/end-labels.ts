// The names of lines at their ends, right of the plot: in the order of the ends, and none over another.
import { mean } from 'd3-array'
import { emsOf } from './axes.ts'
import { escapeText, type Plot, SIDES, tenth } from './svg.ts'

/** `value` stands behind the name; `y` is where the line ends. */
export type LineEnd = Readonly<Record<'name' | 'kind' | 'value', string>> & { readonly y: number }

const ROW = 12.5
const GAP = 10
const EMS = (SIDES.full.right - GAP) / 11

/** A label for each line, or for the earlier ones if the plot is too low for all; a name that is too long is cut. */
export function endLabels(ends: readonly LineEnd[], plot: Plot): string {
  const most = Math.floor((plot.bottom - plot.top) / ROW) + 1
  const shown = ends.slice(0, most).sort((a, b) => a.y - b.y)
  const places = apart(
    shown.map(({ y }) => y),
    plot,
  )
  const x = plot.right + GAP
  const leaders = shown.map(({ y }, i) =>
    Math.abs(places[i]! - y) < 2 ? '' : `M${plot.right + 1} ${tenth(y)}L${x - 2} ${tenth(places[i]!)}`,
  )
  const labels = shown.map(({ name, kind, value }, i) => {
    const text = cut(name, EMS / (kind === 'main' ? 1.1 : 1) - emsOf(` ${value}`)) // the main one is bold
    const title = text === name ? '' : `<title>${escapeText(name)}</title>`
    return `<text class="name ${kind}" x="${x}" y="${tenth(places[i]!)}" dy=".35em">${title}${escapeText(`${text} ${value}`.trim())}</text>`
  })
  return `<g class="names"><path class="ticks" d="${leaders.join('')}"/>${labels.join('')}</g>`
}

function cut(name: string, ems: number): string {
  if (emsOf(name) <= ems) return name
  const characters = Array.from(name)
  while (characters.length > 0 && emsOf(`${characters.join('')}…`) > ems) characters.pop()
  return `${characters.join('').trimEnd()}…`
}

/** The middles of rows: those that would overlap form a block, as near to their `ends`, which ascend, as it can be. */
function apart(ends: readonly number[], { top, bottom }: Plot): number[] {
  const blocks: (readonly number[])[] = []
  const firstOf = (block: readonly number[]) =>
    Math.max(Math.min(mean(block, (y, i) => y - i * ROW)!, bottom - (block.length - 1) * ROW), top)
  for (const y of ends) {
    let block: readonly number[] = [y]
    for (let above = blocks.at(-1); above !== undefined; above = blocks.at(-1)) {
      if (firstOf(above) + above.length * ROW <= firstOf(block)) break
      block = [...blocks.pop()!, ...block]
    }
    blocks.push(block)
  }
  return blocks.flatMap(block => block.map((_, i) => firstOf(block) + i * ROW))
}
