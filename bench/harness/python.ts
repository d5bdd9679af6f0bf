// Python with numpy and pandas from Debian, on one core; only benches need it.
import { join } from 'node:path'
import { libraryPath, unpacked } from './packages.ts'
import { runProgram } from './run-program.ts'

/** What pandas needs of Debian's Python that the system may lack; apt would install all of it and more. */
const PACKAGES = [
  ...['python3-numpy', 'libopenblas0-pthread'],
  ...['python3-pandas', 'python3-pandas-lib', 'python3-dateutil', 'python3-tz', 'python3-six'],
]

/** Runs a script, and gives the numbers that it prints, a line each. */
export async function runPython(script: string, args: readonly string[]): Promise<number[]> {
  const folder = await unpacked('pandas', ...PACKAGES)
  const { LD_LIBRARY_PATH } = libraryPath(folder)
  const blas = LD_LIBRARY_PATH.split(':').map(path => join(path, 'openblas-pthread'))
  const printed = await runProgram('/usr/bin/python3', [script, ...args], {
    PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'),
    LD_LIBRARY_PATH: [...blas, LD_LIBRARY_PATH].join(':'),
    OPENBLAS_NUM_THREADS: '1',
  })
  return printed.trim().split('\n').map(Number)
}
