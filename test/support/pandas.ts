// Python packages of Debian: unpacked into the project where they are not there yet.
import { execFile } from 'node:child_process'
import { machine } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/** The Python that Debian's packages are made for. */
export const DEBIAN_PYTHON = '/usr/bin/python3'

/** What pandas needs of Debian's Python that the system may lack; apt would install all of it and more. */
const PANDAS = [
  ...['python3-numpy', 'libopenblas0-pthread'],
  ...['python3-pandas', 'python3-pandas-lib', 'python3-dateutil', 'python3-tz', 'python3-six'],
]

/** What makes and installs a wheel without a network. */
const PIP = [
  'python3-pip',
  'python3-setuptools',
  'python3-pkg-resources',
  'python3-wheel',
  'python3-distutils',
]

/** What verifies Ed25519 signatures. */
const CRYPTOGRAPHY = ['python3-cryptography', 'python3-cffi-backend']

/** The environment in which Debian's Python finds pandas. */
export const pandasEnv = () => unpack('pandas', PANDAS)

/** The environment in which Debian's Python finds pandas, pip and cryptography. */
export const pipEnv = () => unpack('pip', [...PANDAS, ...PIP, ...CRYPTOGRAPHY])

async function unpack(name: string, packages: readonly string[]) {
  const folder = join(ROOT, '.servers', name)
  await promisify(execFile)(join(ROOT, 'deploy/servers/unpack-packages.sh'), [folder, ...packages])
  const libraries = ['usr/lib', 'lib'].map(each => join(folder, each, `${machine()}-linux-gnu`))
  const blas = libraries.map(each => join(each, 'openblas-pthread'))
  return {
    PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'),
    LD_LIBRARY_PATH: [...blas, ...libraries].join(':'),
    PYTHONPYCACHEPREFIX: join(ROOT, '.servers/compiled-python'), // compiling pandas takes a second, and nothing is written beside sources
  }
}
