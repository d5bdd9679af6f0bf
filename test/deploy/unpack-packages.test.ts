// A machine and its package archive in a folder: apt and dpkg read nothing else.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
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

let archive: string
beforeAll(async () => {
  archive = await temporaryFolder()
  const index = await Promise.all(PACKAGES.map(packUp))
  await writeFiles(archive, { Packages: index.join('\n') })
})

/** Puts a package with one file into the archive; its entry in the index. */
async function packUp(each: Package): Promise<string> {
  const name = `${each.name}_1.0_all.deb`
  const root = join(await temporaryFolder(), each.name)
  await writeFiles(root, { 'DEBIAN/control': `${control(each)}\n`, [`usr/lib/${each.name}`]: each.name })
  await run('dpkg-deb', ['--root-owner-group', '--build', root, join(archive, name)])
  const bytes = await readFile(join(archive, name))
  return `${control(each)}\nFilename: ./${name}\nSize: ${bytes.length}\nSHA256: ${sha256(bytes)}\n`
}

/** Unpacks the server on a machine that has some of the packages; the names of those that were unpacked. */
async function unpackOn(installed: readonly string[]): Promise<string[]> {
  const folder = await temporaryFolder()
  const status = PACKAGES.filter(({ name }) => installed.includes(name)).map(
    each => `${control(each)}\nStatus: install ok installed\n`,
  )
  for (const part of ['dpkg/updates', 'dpkg/info', 'lists/partial', 'cache/archives/partial'])
    await mkdir(join(folder, part), { recursive: true })
  const [apt, admin, target] = [join(folder, 'apt.conf'), join(folder, 'dpkg'), join(folder, 'servers/flood')]
  await writeFiles(folder, {
    'dpkg/status': status.join('\n'),
    'etc/sources.list': `deb [trusted=yes] file:${archive} ./\n`,
    'apt.conf': `
      Dir::State::lists "${folder}/lists"; Dir::State::status "${admin}/status";
      Dir::Cache "${folder}/cache"; Dir::Etc "${folder}/etc"; APT::Sandbox::User "root";`,
  })
  await run(SCRIPT, [target, 'flood-server'], {
    env: { ...process.env, APT_CONFIG: apt, DPKG_ADMINDIR: admin },
  })
  return PACKAGES.map(({ name }) => name).filter(name => existsSync(join(target, 'usr/lib', name)))
}

test('a server is unpacked with its dependencies on a machine that has none of them', async () => {
  expect(await unpackOn([])).toEqual(['flood-server', 'flood-plugins', 'libdam1'])
})

test('packages of the same source are unpacked even if the machine has them, and others that it has are left out', async () => {
  const ofSource = ['flood-server', 'flood-plugins']
  expect(await unpackOn(['flood-plugins', 'libdam1'])).toEqual(ofSource)
  expect(await unpackOn(['flood-server', 'flood-plugins', 'libdam1'])).toEqual(ofSource)
})
