// docs/installing.md from its first block to its last, on the npm package in an empty folder: the way of an operator.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import project from '../../package.json' with { type: 'json' }
import { run } from '../cli/made-up.ts'
import { PATIENCE_MS } from '../support/browser/chromium.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { pastedFrom } from '../support/page-blocks.ts'
import { createPasting, startProgram } from '../support/pasting-shell.ts'
import { shared } from '../support/runner/shared.ts'
import { ownPort } from '../support/servers/own-port.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const FIXTURE = join(ROOT, 'test/fixtures/release-0.1.0')
/** The Node that the page installs, as npm has brought it into this checkout: it is large to unpack again. */
const NODE = realpathSync(join(ROOT, 'node_modules', `node-linux-${process.arch}`))
const TARBALL = `highwater-${project.version}.tgz`

/** What npx does in this folder, at a tenth of its cost: the first block shows that npx itself finds the command. */
const NPX = 'npx() { node_modules/.bin/"$@"; }'

/** A third of what a checkout takes with its tools. */
const MOST_MEGABYTES = 160

let folder: string
/** Of the installed package. */
const launcher = () => join(folder, 'node_modules/highwater/cli/launcher.mjs')
const ports = new Map<string, string>()
const ownPorts = (): Record<string, string> => ({
  HISTORY_PORT: ports.get('8080')!,
  SIGNALS_PORT: ports.get('8081')!,
  OPERATOR_PORT: ports.get('8082')!,
  ADMIN_PORT: ports.get('8083')!,
})
let isOfReleaseBefore = false
let packed = ''
let shell: ReturnType<typeof startProgram>
let paste: ReturnType<typeof createPasting>

/** The ports of the page are those of the test. The book of the release before ends in the past. */
const here = (text: string): string =>
  text
    .replaceAll(/\b8[04]\d\d\b/g, port => ports.get(port) ?? port)
    .replaceAll("--import 'echo nothing to fetch'", whole => (isOfReleaseBefore ? '--allow-stale' : whole))
    .replaceAll(`node-linux-${process.arch}@24`, `file:${NODE}`)

const blocks = pastedFrom('docs/installing.md')
const at = (words: string) => {
  const block = blocks.find(({ script }) => script.includes(words))
  if (block === undefined) throw new Error(`docs/installing.md has no block with ${words}`)
  return block
}

beforeAll(async () => {
  folder = await lastingFolder()
  for (const port of ['8080', '8081', '8082', '8083', '8088', '8443'])
    ports.set(port, String(await ownPort()))
  packed = execFileSync(process.execPath, [join(ROOT, 'deploy/package.ts'), join(folder, 'dist')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  copyFileSync(join(folder, 'dist', TARBALL), join(folder, TARBALL))
  // Servers that the machine lacks are those that the project has unpacked from Debian's packages already.
  symlinkSync(join(ROOT, '.servers'), join(folder, '.servers'))
  const servers = join(ROOT, '.servers/cdn')
  const unpack = join(ROOT, 'deploy/servers/unpack-packages.sh')
  execFileSync(unpack, [servers, 'nginx', 'libnginx-mod-http-brotli-static', 'varnish', 'varnish-modules'])
  const library = `${servers}/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`
  writeFileSync(
    join(folder, 'nginx-program'),
    `#!/bin/sh\nLD_LIBRARY_PATH=${library} exec ${servers}/usr/sbin/nginx "$@"\n`,
  )
  chmodSync(join(folder, 'nginx-program'), 0o755)
  const env = {
    PATH: withoutOwnNode(process.env.PATH ?? ''),
    HOME: folder,
    npm_config_cache: execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim(),
    npm_config_prefer_offline: 'true',
    NGINX_PROGRAM: join(folder, 'nginx-program'),
    BUILD_EFFORT: 'quick', // the page shows no size of a compressed file
    NGINX_MODULES: join(servers, 'usr/lib/nginx/modules'),
    ...ownPorts(),
  }
  shell = startProgram('bash', ['-e'], env, folder)
  paste = createPasting(shell, here)
})

/** That of the machine, if it has one: the package brings its own. */
function withoutOwnNode(path: string): string {
  const others = path.split(delimiter).filter(entry => !entry.startsWith(join(ROOT, 'node_modules')))
  const hasNode = spawnSync('node', ['--version'], { env: { PATH: others.join(delimiter) } }).status === 0
  return hasNode ? others.join(delimiter) : path
}

/** What they take on disk: `stat` counts in blocks of 512 bytes. */
const megabytesOf = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + statSync(path).blocks * 512, 0) / 1e6

test('the npm package is installed alone, brings the right Node, and takes what the page says: less than a third of a checkout', async () => {
  await paste(at('npm install'))
  await paste({ script: `${NPX}\n`, printed: '' })
  const paths = globSync('node_modules/**/*', { cwd: folder }).map(path => join(folder, path))
  const ours = paths.filter(path => !path.includes('/node-linux-'))
  const nodes = globSync('**/*', { cwd: NODE }).map(path => join(NODE, path))
  const page = readFileSync(join(ROOT, 'docs/installing.md'), 'utf8')
  const [, stated, ofNode] = /takes (\d+) MB on disk; the\s+Node beside it takes another (\d+) MB/.exec(page)!
  // Another file system has blocks of another size.
  expect(Math.abs(Number(/installed ([\d.]+) MB/.exec(packed)?.[1]) - Number(stated))).toBeLessThan(3)
  expect(Math.abs(megabytesOf(ours) - Number(stated))).toBeLessThan(3)
  expect(Number(stated)).toBeLessThan(MOST_MEGABYTES)
  expect(Math.abs(megabytesOf(nodes) - Number(ofNode))).toBeLessThan(15)
  expect(
    ours.filter(path => /node_modules\/(?:vitest|typescript|@biomejs|playwright-core)\//.test(path)),
  ).toEqual([])
  expect(globSync('node_modules/*', { cwd: folder }).sort()).toEqual([
    'node_modules/highwater',
    `node_modules/node-linux-${process.arch}`,
  ])
  const { dependencies } = JSON.parse(
    readFileSync(join(folder, 'node_modules/highwater/package.json'), 'utf8'),
  )
  const importing = Object.keys(dependencies).map(name => `import '${name}'`)
  const imported = spawnSync(process.execPath, ['--input-type=module', '-e', importing.join('\n')], {
    cwd: join(folder, 'node_modules/highwater'),
    encoding: 'utf8',
  })
  expect(imported).toMatchObject({ status: 0, stderr: '' })
  // npm would fetch what is optional at the next installation.
  const described = ours.filter(path => path.endsWith('/package.json'))
  expect(described.length).toBeGreaterThan(50)
  for (const path of described)
    expect(readFileSync(path, 'utf8'), path).not.toContain('"optionalDependencies"')
})

test('the installed package writes the sample book and serves it, and names the page for people first', async () => {
  expect(spawnSync(process.execPath, [launcher(), 'sample', join(folder, 'sample')])).toMatchObject({
    status: 0,
  })
  const { stores } = await shared('sample')
  const env = { ...ownPorts(), STORE_URL: stores.url, PRIVATE_STORE_URL: stores.privateUrl }
  const running = startProcess(process.execPath, [launcher(), 'run', '--history-only'], { env, cwd: folder })
  await running.prints(/^history service on /m)
  expect(running.printed()).toMatch(/^open http:\S+ in a browser/m)
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
})

test('the installed package has the types of strategies', async () => {
  writeFileSync(
    join(folder, 'mine.ts'),
    "import type { Strategy } from 'highwater/strategy'\nexport const one: Strategy<number> | 1 = 1\nexport const wrong: Strategy<number> = 2\n",
  )
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const args = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', 'mine.ts']
  const { stdout } = spawnSync(tsc, args, { cwd: folder, encoding: 'utf8' })
  const errors = stdout
    .trim()
    .split('\n')
    .filter(line => line.includes('error'))
  expect(errors).toEqual([expect.stringMatching(/^mine\.ts\(3,\d+\): error TS2322/)])
})

test('the installed package says what to install if no Node is new enough', () => {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.0.0' } })`
  const binary = join(folder, 'node_modules', `node-linux-${process.arch}`)
  renameSync(binary, `${binary}.away`)
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(older)}`, launcher(), '--version'],
    { encoding: 'utf8' },
  )
  renameSync(`${binary}.away`, binary)
  expect([status, stderr]).toEqual([1, expect.stringContaining(`npm install node-linux-${process.arch}@24`)])
})

test('the commands of the page make a book, its settings and the first night, as a checkout builds it', async () => {
  await paste(at('npx highwater init'))
  const read = (store: string, version: string) =>
    JSON.parse(readFileSync(join(folder, store, 'v1/snapshots', version, 'manifest.json'), 'utf8'))
  const [version = ''] = readdirSync(join(folder, '.data/store/v1/snapshots'))
  const theirs = read('.data/store', version)
  const store = `file://${folder}/of-checkout`
  const args = ['--book', 'book', '--allow-stale', '--version', theirs.version, '--store', store]
  const env = { BUILD_EFFORT: 'quick' }
  expect(await run(['build', ...args], { cwd: folder, now: Date.now, env })).toMatchObject({ code: 0 })
  const ours = read('of-checkout', version)
  expect(theirs.artifacts).toEqual(ours.artifacts)
  expect(theirs.snapshot).toEqual(ours.snapshot)
  expect(theirs.built_with.highwater).toBe(project.version)
})

test('the commands of the page start the services, and nginx before them with HTTPS', async () => {
  await paste(at('SERVICE=$!'))
  await paste(at('openssl req'))
})

test('a client is created on the operator page, its key is shown once, and it pulls what is fired', async () => {
  const page = await (await openBrowser()).newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  await page.goto(`http://127.0.0.1:${ports.get('8082')}/ops`)
  const token = readFileSync(join(folder, '.data/operator-token'), 'utf8').trim()
  await page.getByLabel('Operator token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('link', { name: 'Clients' }).click()
  await page.getByLabel('Id').fill('acme')
  await page.getByLabel('Strategies').fill('oak')
  await page.getByLabel('active at once').check()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Issue a key' }).click()
  const key = await page.locator('code.secret').innerText()
  expect(key).toMatch(/^hw_live_\w{59}$/)
  await paste({ script: `KEY=${key}\n`, printed: '' })
  await paste(at('npx highwater ops fire'))
})

test('the commands of the page find every signal after Redis was killed, and restore a backup into an empty one', async () => {
  await paste(at('kill -9'))
  await paste(at('npx highwater ops restore'))
})

test('the commands of the page on backups give a new machine everything of a lost one, and no number a second time', async () => {
  const [backup, restore, ...others] = pastedFrom('docs/backup.md')
  expect(others).toEqual([])
  writeFileSync(join(folder, 'signing-key.pem'), 'a key')
  await paste(backup!)
  const move = 'mkdir new && mv backup new && cd new && ln -s ../node_modules ../.servers ../cert.pem .'
  await paste({ script: `kill $SERVICE; wait $SERVICE || true\n${move}\n`, printed: '' })
  await paste(restore!)
  expect(readFileSync(join(folder, 'new/signing-key.pem'), 'utf8')).toBe('a key')
  const fire = at('npx highwater ops fire').script.split('\n').slice(0, 2).join('\n')
  const pull = `pull '/v1/signals/history?since=0' | grep -o '"signal_id":"[^"]*","seq":[0-9]*'`
  await paste({
    script: `${fire.replace('alder/oak/g', 'alder/oak/g; s/example-1/example-2/')}\n${pull}\ncd ..\n`,
    printed: '"signal_id":"oak-example-1","seq":1\n"signal_id":"oak-example-2","seq":2000002\n',
  })
})

test('the commands of the page upgrade what the release before left behind', async () => {
  isOfReleaseBefore = true
  copyFileSync(join(FIXTURE, 'signing-key.pem'), join(folder, 'signing-key.pem'))
  chmodSync(join(folder, 'signing-key.pem'), 0o600)
  const script = [
    'rm -rf .data/store .data/store.private book',
    `tar -xJf '${join(FIXTURE, 'store.tar.xz')}' -C .data`,
    'mv .data/book book',
    'export SIGNING_KEY_FILE=$PWD/signing-key.pem',
    // The first block has installed the same package.
    `npm() { [ "$*" = 'install --no-fund --no-audit ./${TARBALL}' ]; }`,
  ]
  await paste({ script: `${script.join('\n')}\n`, printed: '' })
  const before = shell.output().length
  await paste(at('before-the-upgrade.jsonl'))
  const printed = shell.output().slice(before)
  expect(printed).toContain('was built with highwater 0.1.0')
  expect(printed).toMatch(/^2024-03-01T00:15:00Z .* all as published$/m)
  expect(printed).toContain('"history_restated":false')
})

test('docs/installing.md has no block that these tests do not paste', () => {
  expect(blocks).toHaveLength(8)
})
