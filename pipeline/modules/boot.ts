// Begins a process for strategy modules. Its parent writes its code to the standard input, see `workerCode`.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import type { Code } from './processes.ts'

const code = JSON.parse(readFileSync(0, 'utf8')) as Code

registerHooks({
  load(url, context, next) {
    const source = code[url]
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})

await import('./worker.ts')
