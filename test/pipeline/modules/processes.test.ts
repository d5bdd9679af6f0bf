// The process around the context of a module, as if a module had left the context: what Node itself denies it.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processArguments } from '#pipeline/modules/processes.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'

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
  const [denied] = await once(child, 'message')
  expect(denied).toEqual({
    bars: 'ERR_ACCESS_DENIED',
    folder: 'ERR_ACCESS_DENIED',
    write: 'ERR_ACCESS_DENIED',
    process: 'ERR_ACCESS_DENIED',
    thread: 'ERR_ACCESS_DENIED',
    code: 'EvalError',
    builtin: 'TypeError',
    environment: 'EMPTY',
    own: 'ALLOWED',
  })
})
