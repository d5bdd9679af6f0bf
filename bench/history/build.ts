// A whole night at 10, 100 and 1 000 strategies over ten years: speed, the share of each step, memory, growth.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { GENERATED_AS_OF, writeGeneratedBook } from '../harness/generated-book.ts'
import type { Ground } from '../harness/ground.ts'
import { ROOT } from '../harness/packages.ts'
import { peakMib } from '../harness/process-use.ts'
import { atMost, type Figure, plain, type Section } from '../harness/report.ts'

const LARGEST = 1000
const MOST_SECONDS = 240
const MOST_MIB = 2048
const VERSION = '2026-07-01T00:15:00Z'

/** How often the memory of the build is looked at; the kernel keeps its peak. */
const LOOK_MS = 250

const runFile = promisify(execFile)
const summary = z.object({ timings_ms: z.record(z.string(), z.number()) })

/** `BENCH_BOOKS=10,100` leaves the largest out, which takes minutes. */
export async function measureBuild({ folder }: Ground): Promise<Section> {
  const sizes = (process.env.BENCH_BOOKS ?? `10,100,${LARGEST}`).split(',').map(Number)
  const figures: Figure[] = []
  for (const size of sizes) figures.push(...(await measureBook(folder, size)))
  return {
    title: 'Builds',
    about:
      'Reference strategies as modules on ten years of bars of 4 hours, read, replayed, marked, correlated, rendered, ' +
      'compressed (brotli 11), written and read back, a thread a core; the wall clock of each step.',
    figures,
  }
}

async function measureBook(folder: string, size: number): Promise<Figure[]> {
  const book = join(folder, `book-${size}`)
  await writeGeneratedBook(book, size)
  const { timings, peak } = await build(book, pathToFileURL(join(folder, `store-${size}`)).href)
  const seconds = Object.values(timings).reduce((sum, ms) => sum + ms, 0) / 1000
  const shares = Object.entries(timings).map(([step, ms]) => `${step} ${Math.round(ms / seconds / 10)} %`)
  const name = `${size} strategies`
  const isLargest = size === LARGEST
  return [
    isLargest ? atMost(`${name}: time`, seconds, MOST_SECONDS, 's') : plain(`${name}: time`, seconds, 's'),
    { what: `${name}: share of the steps`, reached: shares.join(', ') },
    plain(`${name}: speed`, size / seconds, 'strategies a second'),
    isLargest
      ? atMost(`${name}: most memory`, peak, MOST_MIB, 'MiB')
      : plain(`${name}: most memory`, peak, 'MiB'),
  ]
}

async function build(book: string, store: string) {
  const command = [join(ROOT, 'cli/launcher.mjs'), 'build', '--json', '--book', book, '--store', store]
  const running = runFile(process.execPath, [
    ...command,
    ...['--as-of', GENERATED_AS_OF, '--version', VERSION],
  ])
  let peak = 0
  const look = setInterval(() => {
    peakMib(running.child.pid ?? 0).then(
      mib => {
        if (mib > peak) peak = mib
      },
      () => {}, // it has ended
    )
  }, LOOK_MS)
  try {
    const { stdout } = await running
    return { timings: summary.parse(JSON.parse(stdout)).timings_ms, peak }
  } finally {
    clearInterval(look)
  }
}
