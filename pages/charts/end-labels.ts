// The names of lines at their ends, right of the plot: in the order of the ends, and none over another.
import { mean } from 'd3-array'
import { emsOf } from './axes.ts'
import { escapeText, type Plot, SIDES, tenth } from './svg.ts'

/** `value` stands behind the name; `y` is where the line ends. */
export type LineEnd = Readonly<Record<'name' | 'kind' | 'value', string>> & { readonly y: number }

const ROW = 12.5
const GAP = 10
const EMS = (SIDES.full.right - GAP) / 11

/**
 * A label for each line, or for the earlier ones if the plot is too low for all. If one is too long and there is room, values are
 * below names; a name that is still too long is cut.
 */
export function endLabels(ends: readonly LineEnd[], plot: Plot): string {
  const height = plot.bottom - plot.top
  const isLong = ends.some(({ name, kind, value }) => emsOf(`${name} ${value}`.trim()) > roomOf(kind))
  const rows = isLong && ends.length * 2 * ROW <= height ? 2 : 1
  const shown = ends.slice(0, Math.floor(height / ROW) + 1).sort((a, b) => a.y - b.y)
  const heights = shown.map(({ y }) => y)
  const places = apart(heights, rows * ROW, plot)
  const x = plot.right + GAP
  const leaders = shown.map(({ y }, i) =>
    Math.abs(places[i]! - y) < 2 ? '' : `M${plot.right + 1} ${tenth(y)}L${x - 2} ${tenth(places[i]!)}`,
  )
  const labels = shown.map(({ name, kind, value }, i) => {
    const text = cut(name, roomOf(kind) - (rows === 2 ? 0 : emsOf(` ${value}`)))
    const title = text === name ? '' : `<title>${escapeText(name)}</title>`
    const behind = rows === 2 ? `<tspan x="${x}" dy="${ROW}">${value}</tspan>` : ` ${value}`
    const y = tenth(places[i]! - ((rows - 1) * ROW) / 2)
    return `<text class="name ${kind}" x="${x}" y="${y}" dy=".35em">${title}${escapeText(text)}${behind}</text>`
  })
  return `<g class="names"><path class="ticks" d="${leaders.join('')}"/>${labels.join('')}</g>`
}

/** The main line's name is bold. */
const roomOf = (kind: string): number => (kind === 'main' ? EMS / 1.1 : EMS)

function cut(name: string, ems: number): string {
  if (emsOf(name) <= ems) return name
  const characters = Array.from(name)
  while (characters.length > 0 && emsOf(`${characters.join('')}…`) > ems) characters.pop()
  return `${characters.join('').trimEnd()}…`
}

/** The middles of labels of a height: those that would overlap form a block, as near to their `ends`, which ascend, as it can be. */
function apart(ends: readonly number[], height: number, { top, bottom }: Plot): number[] {
  const blocks: (readonly number[])[] = []
  const firstOf = (block: readonly number[]) =>
    Math.max(Math.min(mean(block, (y, i) => y - i * height)!, bottom - (block.length - 1) * height), top)
  for (const y of ends) {
    let block: readonly number[] = [y]
    for (let above = blocks.at(-1); above !== undefined; above = blocks.at(-1)) {
      if (firstOf(above) + above.length * height <= firstOf(block)) break
      block = [...blocks.pop()!, ...block]
    }
    blocks.push(block)
  }
  return blocks.flatMap(block => block.map((_, i) => firstOf(block) + i * height))
}
