import { spawn } from 'node:child_process'

/** Runs a program to its end and gives what it printed. Rejects where it fails; what it complained of is seen above. */
export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code =>
      code === 0 ? resolve(printed) : reject(new Error(`${program} ended with ${code}`)),
    )
  })
}
