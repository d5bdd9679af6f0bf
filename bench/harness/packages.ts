// Programs that only benches need, unpacked from Debian into a folder of the project.
import { join } from 'node:path'
import { runProgram } from './run-program.ts'

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
