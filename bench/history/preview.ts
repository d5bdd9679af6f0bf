// From a saved file to its new figures in `highwater preview --watch`.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Ground } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { ROOT } from '../harness/programs.ts'
import { atMost, type Section } from '../harness/report.ts'
import { GENERATED_AS_OF, writeGeneratedBook } from './build.ts'

const SAVES = 9
const MOST_SECONDS = 2
/** By then the answers of the save before are published too. */
const PAUSE_MS = 3000
const ID = 's0000'

export async function measurePreview(ground: Ground): Promise<Section> {
  const seconds = [await secondsToFigures(ground, 1), await secondsToFigures(ground, 10)]
  return {
    title: 'Preview',
    about:
      `One module on ten years of bars of 4 hours under \`highwater preview --watch ${ID}\`: from the end of the write of its ` +
      `file to the printed line of its figures, with the proof and all checks of a build. Wall clock, median of ${SAVES} saves.`,
    figures: [1, 10].map((size, i) =>
      atMost(`one strategy of a book of ${size}`, seconds[i]!, MOST_SECONDS, 's'),
    ),
  }
}

async function secondsToFigures({ folder, stops }: Ground, size: number): Promise<number> {
  const book = join(folder, `preview-${size}`)
  await writeGeneratedBook(book, size)
  const store = pathToFileURL(join(folder, 'preview-store')).href
  const command = ['preview', '--watch', '--book', book, '--store', store, '--as-of', GENERATED_AS_OF]
  const child = spawn(process.execPath, [join(ROOT, 'cli/highwater.ts'), ...command, ID], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  stops.push(stop)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const untilLine = async (start: string): Promise<void> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error('the preview ended')
      if (value.startsWith(start)) return
    }
  }
  await untilLine('the same answers on')
  const file = join(book, `strategies/${ID}.ts`)
  const text = await readFile(file, 'utf8')
  const seconds: number[] = []
  for (let i = 0; i < SAVES; i++) {
    await wait(PAUSE_MS)
    await writeFile(file, text.replace(/atrBars: \d+/, `atrBars: ${20 + i}`))
    const since = performance.now()
    await untilLine(ID)
    seconds.push((performance.now() - since) / 1000)
  }
  await stop()
  return median(seconds)
}
