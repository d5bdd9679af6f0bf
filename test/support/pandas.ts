// pandas for Debian's Python: unpacked into the project where it is not there yet.
import { execFile } from 'node:child_process'
import { machine } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, '.servers/pandas')

/** The Python that Debian's packages are made for. */
export const DEBIAN_PYTHON = '/usr/bin/python3'

/** What pandas needs of Debian's Python that the system may lack; apt would install all of it and more. */
const PACKAGES = [
  ...['python3-numpy', 'libopenblas0-pthread'],
  ...['python3-pandas', 'python3-pandas-lib', 'python3-dateutil', 'python3-tz', 'python3-six'],
]

/** The environment in which Debian's Python finds pandas. */
export async function pandasEnv() {
  await promisify(execFile)(join(ROOT, 'deploy/servers/unpack-packages.sh'), [FOLDER, ...PACKAGES])
  const libraries = ['usr/lib', 'lib'].map(folder => join(FOLDER, folder, `${machine()}-linux-gnu`))
  const blas = libraries.map(folder => join(folder, 'openblas-pthread'))
  return {
    PYTHONPATH: join(FOLDER, 'usr/lib/python3/dist-packages'),
    LD_LIBRARY_PATH: [...blas, ...libraries].join(':'),
  }
}
