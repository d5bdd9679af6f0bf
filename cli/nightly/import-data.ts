import { spawn } from 'node:child_process'
import { VARIABLE_NAMES } from '../environment.ts'

/** An import that takes longer hangs: the night must end before somebody looks for it. */
const IMPORT_TIMEOUT_MS = 2 * 3_600_000

/**
 * Runs what brings the data of a book up to date, as a shell command in the folder of the book. It gets the environment, with
 * the credentials that it needs of its own, but none of Highwater's variables: secrets stand there. What it says goes to
 * `note`. Rejects where it does not end with 0.
 */
export function importData(
  command: string,
  book: string,
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: book,
      env: withoutOurs(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a group of its own: what it starts is ended with it
    })
    let isLate = false
    const timeout = setTimeout(() => {
      isLate = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, IMPORT_TIMEOUT_MS)
    for (const stream of [child.stdout, child.stderr]) tellLines(stream, line => note(`import: ${line}`))
    child.once('error', error => {
      clearTimeout(timeout)
      reject(new Error(`the import cannot be started in ${book}: ${error.message}`))
    })
    child.once('close', (code, signal) => {
      clearTimeout(timeout)
      if (code === 0) resolve()
      else reject(new Error(`the import ${describeEnd(code, signal, isLate)}; its output above says why`))
    })
  })
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null, isLate: boolean): string {
  if (isLate) return `was ended after ${IMPORT_TIMEOUT_MS / 3_600_000} hours`
  return code === null ? `was ended by ${signal}` : `ended with ${code}`
}

const withoutOurs = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !VARIABLE_NAMES.includes(name)))

function tellLines(stream: NodeJS.ReadableStream, tell: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(tell)
  })
  stream.on('end', () => {
    if (rest !== '') tell(rest)
  })
}
