// bench/results.md: a section a part, each with the machine, the date and the load it was measured under.
import { readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

const FILE = join(import.meta.dirname, '../results.md')

/** A figure that was measured, and what it should be. `isReached` is null where nothing is asked of it. */
export type Figure = {
  readonly what: string
  readonly reached: string
  readonly target?: string
  readonly isReached?: boolean
}

export type Section = {
  readonly title: string
  /** How it was measured, and what there is to know about the figures. */
  readonly about: string
  readonly figures: readonly Figure[]
}

/** A ratio that must not be smaller than a target. */
export const atLeast = (what: string, value: number, target: number): Figure => ({
  ...{ what, reached: value.toFixed(2), target: `at least ${target}`, isReached: value >= target },
})

/** A quantity that must not be larger than a target. */
export const atMost = (what: string, value: number, target: number, unit: string): Figure => ({
  what,
  reached: `${value < 10 ? value.toFixed(2) : Math.round(value)} ${unit}`,
  target: `at most ${target} ${unit}`,
  isReached: value <= target,
})

export const plain = (what: string, value: number, unit: string): Figure => ({
  what,
  reached: `${value < 10 ? value.toFixed(2) : Math.round(value)} ${unit}`,
})

/** The section as Markdown. */
export function renderSection({ title, about, figures }: Section): string {
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  const when = `${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`
  const rows = figures.map(
    ({ what, reached, target = '', isReached }) =>
      `| ${what} | ${reached} | ${target} | ${isReached === undefined ? '' : isReached ? 'reached' : '**missed**'} |`,
  )
  return [
    `## ${title}`,
    '',
    `${when}. ${about}`,
    '',
    '| | Measured | Target | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

const HEAD = `# What the history service reaches

\`make bench\` measures all of it, \`make bench PART=static\` one part. Each section stands for itself: it says when and
under what load it was measured. Ratios are of rounds in turns, and hold on another machine; absolute figures do not.
`

/** Puts a section in the place of the one with its title, or behind all others. */
export async function saveSection(section: Section): Promise<void> {
  const text = await readFile(FILE, 'utf8').catch(() => HEAD)
  const [head = HEAD, ...sections] = text.split(/^(?=## )/m)
  const mine = renderSection(section)
  const at = sections.findIndex(each => each.startsWith(`## ${section.title}\n`))
  if (at < 0) sections.push(mine)
  else sections[at] = `${mine}\n`
  await writeFile(FILE, `${[head, ...sections].map(each => each.trimEnd()).join('\n\n')}\n`)
}
