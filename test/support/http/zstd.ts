// The command `zstd`, a decoder of its own: unpacked into the project where it is not there yet.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../../..')
const PACKAGES = join(ROOT, '.servers/zstd')

/** The folder with the command in it. */
export async function zstdFolder(): Promise<string> {
  await promisify(execFile)(join(ROOT, 'deploy/servers/unpack-packages.sh'), [PACKAGES, 'zstd'])
  return join(PACKAGES, 'usr/bin')
}
