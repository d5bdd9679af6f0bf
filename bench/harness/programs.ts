import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DEBIAN_PYTHON, pandasEnv } from '#test/support/pandas.ts'

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

// Programs that only benches need, unpacked from Debian into a folder of the project.

export const ROOT = join(import.meta.dirname, '../..')

/** Debian's name of this machine in the paths of libraries. */
const MACHINE = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

/** Unpacks packages under a name, once, and gives the folder. */
export async function unpacked(name: string, ...packages: string[]): Promise<string> {
  const folder = join(ROOT, '.servers', name)
  await runProgram(join(ROOT, 'deploy/servers/unpack-packages.sh'), [folder, ...packages])
  return folder
}

/** The environment in which a program of such a folder finds its libraries. */
export const libraryPath = (folder: string): { readonly LD_LIBRARY_PATH: string } => ({
  LD_LIBRARY_PATH: ['usr/lib', 'lib'].map(each => join(folder, each, `${MACHINE}-linux-gnu`)).join(':'),
})

// Python with numpy and pandas from Debian, on one core.

/** Runs a script, and gives the numbers that it prints, a line each. */
export async function runPython(script: string, args: readonly string[]): Promise<number[]> {
  const env = { ...(await pandasEnv()), OPENBLAS_NUM_THREADS: '1' }
  const printed = await runProgram(DEBIAN_PYTHON, [script, ...args], env)
  return printed.trim().split('\n').map(Number)
}
