// The process around the context of a module, as if a module had left the context: what Node itself denies it, what code it has,
// and that it ends with its parent.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { createProcesses, processArguments, workerCode } from '#pipeline/modules/processes.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { atEnd, atEndOfProcess } from '../../support/ends.ts'
import { startProcess } from '../../support/history/highwater-process.ts'
import { processesOf } from '../../support/processes.ts'
import { bookOf, dailyBars, FIRST_DAY, moduleOf, moduleText } from '../night/night-book.ts'

/** Tries each, and answers what was denied. */
const ESCAPED = `
  const tries = {
    bars: async () => (await import('node:fs')).readFileSync(new URL('../bars/next.csv', import.meta.url)),
    folder: async () => (await import('node:fs')).readdirSync(new URL('..', import.meta.url)),
    write: async () => (await import('node:fs')).writeFileSync(new URL('./new.ts', import.meta.url), ''),
    process: async () => (await import('node:child_process')).execSync('id'),
    thread: async () => new (await import('node:worker_threads')).Worker('1', { eval: true }),
    code: () => new Function('return 1')(),
    builtin: () => { 'use strict'; Array.prototype.push = null },
    environment: () => { if (Object.keys(process.env).sort().join() === 'LC_ALL,TZ') throw Object.assign(new Error(), { code: 'EMPTY' }) },
    own: async () => { (await import('node:fs')).readFileSync(new URL(import.meta.url)); throw Object.assign(new Error(), { code: 'ALLOWED' }) },
  }
  const denied = {}
  for (const [name, work] of Object.entries(tries)) {
    try { await work(); denied[name] = 'done' } catch (error) { denied[name] = error.code ?? error.name }
  }
  process.send(denied)
  process.disconnect()`

test('the process of the modules reads the folder of the modules, and nothing else of the machine', async () => {
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'bars/next.csv': '1', 'strategies/escaped.mjs': ESCAPED })
  const strategies = join(folder, 'strategies')
  const child = fork(join(strategies, 'escaped.mjs'), {
    execArgv: processArguments(strategies),
    env: { TZ: 'UTC', LC_ALL: 'C' },
  })
  atEndOfProcess(() => child.kill())
  const [denied] = await once(child, 'message')
  const accesses = ['bars', 'folder', 'write', 'process', 'thread']
  expect(denied).toEqual({
    ...Object.fromEntries(accesses.map(access => [access, 'ERR_ACCESS_DENIED'])),
    ...{ code: 'EvalError', builtin: 'TypeError', environment: 'EMPTY', own: 'ALLOWED' },
  })
})

test('a process ends before the contexts of many modules fill its memory, and one that ends by itself is reported with its code', async () => {
  const strategies = await temporaryFolder()
  const head = 'const large = new Array(1e7).fill(1)' // 80 MB, which its context keeps
  await writeFiles(strategies, {
    'oak.ts': moduleText('oak', { head, body: 'init: () => ({ length: large.length }),' }),
  })
  const processes = createProcesses(strategies, { threads: 1, elapsedMs: () => performance.now() })
  atEnd(() => processes.close())
  const input = {
    ...{ path: join(strategies, 'oak.ts'), id: 'oak', timeframeMs: DAY_MS, baseRisk: 0.02 },
    costs: { commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 0.1, max_leverage: 10 },
    ...{ funding: null, from: FIRST_DAY },
  }
  for (let i = 0; i < 8; i++) expect(await processes.run('version', input)).toBe('1')
  await processes.close()
  const { execPath } = process
  atEnd(() => void Object.assign(process, { execPath }))
  process.execPath = join(strategies, 'ending')
  await writeFile(process.execPath, '#!/bin/sh\ncat > /dev/null\nexit 3\n', { mode: 0o755 })
  await expect(processes.run('version', input)).rejects.toThrow(
    'its process ended with code 3: look for more',
  )
})

const COMMAND = join(import.meta.dirname, '../../../cli/highwater.ts')
const hasProc = existsSync('/proc/self/cmdline')
const skip = hasProc ? '' : ' (skipped: this machine has no /proc)'

const LOOPS = {
  'inside of a bar': 'onBar: () => { for (;;); },',
  'of promises': 'init: () => { (async () => { for (;;) await null })(); return {} },',
}

test.skipIf(!hasProc).each(Object.entries(LOOPS))(
  `an endless loop %s of a module ends when its build was killed with SIGKILL${skip}`,
  async (_, body) => {
    const book = await temporaryFolder()
    await writeFiles(book, bookOf(dailyBars([100, 101, 102, 103]), [moduleOf('oak', { body })]))
    const parent = startProcess(process.execPath, [COMMAND, 'check', '--book', book, '--allow-stale'])
    const own = () => processesOf(join(book, 'strategies'))
    await expect.poll(() => own().some(isBusy)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(own).toEqual([])
  },
)

/** A hundred ticks are a second of processor time, which a process that only starts does not use. */
const BUSY_TICKS = 100

const isBusy = ({ pid }: { readonly pid: number }): boolean =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[11]) >= BUSY_TICKS

const ROOT = new URL('../../../', import.meta.url)

test('the code of module processes is that of the sources as they are, without types, and with all that it imports', () => {
  const code = workerCode()
  const names = Object.keys(code).map(url => url.slice(ROOT.href.length))
  expect(names).toEqual(
    expect.arrayContaining(['pipeline/modules/worker.ts', 'core/replay/step.ts', 'core/calendar.ts']),
  )
  for (const [url, text] of Object.entries(code)) {
    expect(text, url).toBe(stripTypeScriptTypes(readFileSync(new URL(url), 'utf8')))
    for (const [, name] of text.matchAll(/\bfrom '(?:#|\.\/)([^']+\.ts)'/g)) {
      expect(names, url).toContainEqual(expect.stringMatching(new RegExp(`(?:^|/)${name}$`)))
    }
  }
})
