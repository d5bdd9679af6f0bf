// `make package`: the npm package, in dist/. Node removes no types below node_modules, so its programs are JavaScript.
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describeCode } from '#cli/describe-code.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const FOLDER = join(DIST, 'package')

/** The files of the package, from those of the project: what its commands run, read, or name in their output. */
const FILES = [
  '{api,cli,core,pipeline,signals,static-build,storage}/**',
  'pages/**',
  'deploy/{docker,grafana,nginx,prometheus,servers,systemd,varnish}/**',
  'examples/**',
  'docs/**/*.md',
  '{CHANGELOG.md,LICENSE,README.md}',
]

/** The sources of scripts that are built, and what works in a checkout alone. */
const LEFT_OUT = [
  'pages/browser/*.ts',
  'pages/browser/tsconfig.json',
  'cli/link-node.mjs',
  '**/__pycache__/**',
]

/** TypeScript that is read as text: `init` and `sample` copy it into books, and users copy the examples. */
const KEPT = /^(core\/replay\/strategy\.ts|pipeline\/(sample|starter)\/template\/|examples\/)/

/** Only types, so it is its own declaration: `import type { Strategy } from 'highwater/strategy'`. */
const TYPES = 'core/replay/strategy'

/** What the reference pages read of a package of 12 MB. */
const SWAGGER = 'swagger-ui-dist'
const SWAGGER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE', 'README.md']

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
copyFiles()
bundleSwagger()
writeFileSync(join(FOLDER, 'package.json'), toJson(await describePackage()))
writeFileSync(join(FOLDER, 'npm-shrinkwrap.json'), toJson(lockDependencies()))
const packed = await promisify(execFile)('npm', ['pack', FOLDER, '--json', '--pack-destination', DIST])
const [{ filename, entryCount, size, unpackedSize }] = JSON.parse(packed.stdout) as [Packed]
console.log(
  `dist/${filename}: ${toMegabytes(size)}, unpacked ${toMegabytes(unpackedSize)} in ${entryCount} files`,
)

function copyFiles(): void {
  const files = globSync(FILES, { cwd: ROOT, exclude: LEFT_OUT }).filter(path =>
    statSync(join(ROOT, path)).isFile(),
  )
  for (const path of files) {
    const text = /\.(ts|mjs)$/.test(path) ? readFileSync(join(ROOT, path), 'utf8') : null
    mkdirSync(dirname(join(FOLDER, path)), { recursive: true })
    if (text === null || KEPT.test(path)) cpSync(join(ROOT, path), join(FOLDER, path))
    if (text !== null) writeFileSync(join(FOLDER, path.replace(/\.ts$/, '.js')), toJavaScript(text))
  }
  cpSync(join(ROOT, `${TYPES}.ts`), join(FOLDER, `${TYPES}.d.ts`))
}

/** Without types, and with the names that its files have in the package. */
function toJavaScript(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(
    /(\b(?:from |import |import\(|new URL\())'([^'\n]*)\.ts'/g,
    "$1'$2.js'",
  )
}

/** Its install script reports to its makers, and most of it is never read: the package has its own copy of the rest. */
function bundleSwagger(): void {
  const from = dirname(createRequire(import.meta.url).resolve(`${SWAGGER}/package.json`))
  const to = join(FOLDER, 'node_modules', SWAGGER)
  mkdirSync(to, { recursive: true })
  for (const file of SWAGGER_FILES) cpSync(join(from, file), join(to, file))
  const { name, version, license } = readJson(join(from, 'package.json'))
  writeFileSync(join(to, 'package.json'), toJson({ name, version, license }))
}

async function describePackage(): Promise<Json> {
  const { name, version, description, license, type, bin, engines, imports, dependencies } = readJson(
    join(ROOT, 'package.json'),
  )
  const { '#test/*': _, ...rooms } = imports as Json
  return {
    ...{ name, version, description, license, type, bin, engines },
    gitHead: (await describeCode(ROOT)).commit,
    imports: rooms,
    exports: { './strategy': { types: `./${TYPES}.d.ts` }, './package.json': './package.json' },
    dependencies,
    bundleDependencies: [SWAGGER],
  }
}

/** The dependencies as the lockfile has them, without those of developers and without Node. */
function lockDependencies(): Json {
  const { packages, ...lock } = readJson(join(ROOT, 'package-lock.json'))
  const { '': project, ...others } = packages as Record<string, Json>
  const { name, version, license, dependencies, engines, bin } = project!
  const needed = Object.entries(others).filter(
    ([path, { dev, link }]) =>
      path.startsWith('node_modules/') &&
      dev !== true &&
      link !== true &&
      !/^node_modules\/(node-linux-|@scarf\/)/.test(path),
  )
  const locked = Object.fromEntries(
    needed.map(([path, entry]) =>
      path === `node_modules/${SWAGGER}` ? [path, { version: entry.version, inBundle: true }] : [path, entry],
    ),
  )
  const own = { name, version, license, dependencies, engines, bin, bundleDependencies: [SWAGGER] }
  return { ...lock, packages: { '': own, ...locked } }
}

type Json = Record<string, unknown>

function readJson(path: string): Json {
  return JSON.parse(readFileSync(path, 'utf8')) as Json // a file of npm
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

type Packed = {
  readonly filename: string
  readonly entryCount: number
  readonly size: number
  readonly unpackedSize: number
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
