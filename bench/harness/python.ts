// Python with numpy and pandas from Debian, on one core.
import { DEBIAN_PYTHON, pandasEnv } from '#test/support/pandas.ts'
import { runProgram } from './run-program.ts'

/** Runs a script, and gives the numbers that it prints, a line each. */
export async function runPython(script: string, args: readonly string[]): Promise<number[]> {
  const env = { ...(await pandasEnv()), OPENBLAS_NUM_THREADS: '1' }
  const printed = await runProgram(DEBIAN_PYTHON, [script, ...args], env)
  return printed.trim().split('\n').map(Number)
}
