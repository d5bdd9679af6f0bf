// The processes of the modules after their parent was killed, which no module in an endless loop can see.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { atEnd } from '../../support/ends.ts'
import { aModule, catalogue, dailyBars, moduleText } from '../night/night-book.ts'

const COMMAND = join(import.meta.dirname, '../../../cli/highwater.ts')
const hasProc = existsSync('/proc/self/cmdline')
const skip = hasProc ? '' : ' (skipped: this machine has no /proc)'

const LOOPS = {
  'inside of a bar': 'onBar: () => { for (;;); },',
  'of promises': 'init: () => { (async () => { for (;;) await null })(); return {} },',
}

test.skipIf(!hasProc).each(Object.entries(LOOPS))(
  `an endless loop %s ends when the build was killed with SIGKILL${skip}`,
  async (_, body) => {
    const book = await temporaryFolder()
    await writeFiles(book, {
      'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102, 103]),
      'strategies/oak.ts': moduleText('oak', { body }),
      'catalogue.yaml': catalogue([aModule('oak')]),
    })
    const parent = spawn(process.execPath, [COMMAND, 'check', '--book', book, '--allow-stale'], {
      stdio: 'ignore',
    })
    atEnd(() => {
      for (const pid of runningIn(book)) process.kill(pid, 'SIGKILL')
    })
    const own = () => runningIn(join(book, 'strategies'))
    await expect.poll(() => own().some(isBusy)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(own).toEqual([])
  },
)

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has ended
  }
}

/** The processes that name a folder in their arguments. */
const runningIn = (folder: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid) && textOf(`/proc/${pid}/cmdline`).includes(folder))

/** A hundred ticks are a second of processor time, which a process that only starts does not use. */
const BUSY_TICKS = 100

const isBusy = (pid: number): boolean =>
  Number(textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[11]) >= BUSY_TICKS
