// A machine and its package archive in a folder: apt and dpkg read nothing else.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { sha256 } from '#storage/digest.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

const run = promisify(execFile)
const SCRIPT = join(import.meta.dirname, '../../deploy/servers/unpack-packages.sh')

type Package = { readonly name: string; readonly source: string; readonly depends?: string }

/** A server, its plugins, a library of the same source, and one of another source. */
const PACKAGES: readonly Package[] = [
  { name: 'flood-server', source: 'flood', depends: 'flood-plugins, libdam1' },
  { name: 'flood-plugins', source: 'flood' },
  { name: 'libdam1', source: 'dam' },
]

const control = ({ name, source, depends }: Package): string =>
  [
    ...[`Package: ${name}`, `Source: ${source}`, 'Version: 1.0', 'Architecture: all'],
    ...['Maintainer: Highwater <mail@example.org>', 'Description: a package of a test'],
    ...(depends === undefined ? [] : [`Depends: ${depends}`]),
  ].join('\n')

/** An archive with the packages, and a machine that has some of them; its environment. */
async function openMachine(folder: string, installed: readonly string[]): Promise<NodeJS.ProcessEnv> {
  const index = await Promise.all(PACKAGES.map(each => packUp(folder, each)))
  const status = PACKAGES.filter(({ name }) => installed.includes(name)).map(
    each => `${control(each)}\nStatus: install ok installed\n`,
  )
  for (const part of ['dpkg/updates', 'dpkg/info', 'lists/partial', 'cache/archives/partial'])
    await mkdir(join(folder, part), { recursive: true })
  const [apt, admin] = [join(folder, 'apt.conf'), join(folder, 'dpkg')]
  await writeFiles(folder, {
    'archive/Packages': index.join('\n'),
    'dpkg/status': status.join('\n'),
    'etc/sources.list': `deb [trusted=yes] file:${folder}/archive ./\n`,
    'apt.conf': `
      Dir::State::lists "${folder}/lists"; Dir::State::status "${admin}/status";
      Dir::Cache "${folder}/cache"; Dir::Etc "${folder}/etc"; APT::Sandbox::User "root";`,
  })
  return { ...process.env, APT_CONFIG: apt, DPKG_ADMINDIR: admin }
}

/** Puts a package with one file into the archive; its entry in the index. */
async function packUp(folder: string, each: Package): Promise<string> {
  const name = `${each.name}_1.0_all.deb`
  const root = join(folder, each.name)
  await writeFiles(root, { 'DEBIAN/control': `${control(each)}\n`, [`usr/lib/${each.name}`]: each.name })
  await mkdir(join(folder, 'archive'), { recursive: true })
  await run('dpkg-deb', ['--root-owner-group', '--build', root, join(folder, 'archive', name)])
  const bytes = await readFile(join(folder, 'archive', name))
  return `${control(each)}\nFilename: ./${name}\nSize: ${bytes.length}\nSHA256: ${sha256(bytes)}\n`
}

describe('unpacking the packages of a server', () => {
  const unpack = async (installed: readonly string[]): Promise<string[]> => {
    const folder = await temporaryFolder()
    const env = await openMachine(folder, installed)
    const target = join(folder, 'servers/flood')
    await run(SCRIPT, [target, 'flood-server'], { env })
    return PACKAGES.map(({ name }) => name).filter(name => existsSync(join(target, 'usr/lib', name)))
  }

  test('unpacks a server and its dependencies on a machine that has none of them', async () => {
    expect(await unpack([])).toEqual(['flood-server', 'flood-plugins', 'libdam1'])
  })

  test('unpacks what the machine has of the same source too, and leaves out other packages that it has', async () => {
    expect(await unpack(['flood-plugins', 'libdam1'])).toEqual(['flood-server', 'flood-plugins'])
    expect(await unpack(['flood-server', 'flood-plugins', 'libdam1'])).toEqual([
      'flood-server',
      'flood-plugins',
    ])
  })
})
