// bench/results.md: the machine and the day of a run, a section a part, and what is missed.
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
  const rows = figures.map(
    ({ what, reached, target = '', isReached }) =>
      `| ${what} | ${reached} | ${target} | ${isReached === undefined ? '' : isReached ? 'reached' : '**missed**'} |`,
  )
  return [
    `## ${title}`,
    '',
    `Load ${loadavg()[0]?.toFixed(1)} at the end. ${about}`,
    '',
    '| | Measured | Target | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Written by hand, and kept. */
const BY_HAND = '## Where a target is missed'

const head = (): string => {
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  return `# What Highwater reaches

${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.version}: all sections in one run of \`make bench\`.
\`make bench PART=static\` measures and prints one of them. Ratios are of rounds in turns, and hold on another machine; absolute figures do not.
`
}

/** Writes the sections of a whole run in the place of those of the run before. */
export async function saveResults(sections: readonly string[]): Promise<void> {
  const before = await readFile(FILE, 'utf8')
  const kept = before.slice(before.indexOf(BY_HAND))
  await writeFile(FILE, `${[head(), ...sections, kept].map(each => each.trimEnd()).join('\n\n')}\n`)
}
