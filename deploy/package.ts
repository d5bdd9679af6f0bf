// `make package`: the npm package, in dist/ or the folder that is given. Node removes no types below node_modules, so its programs are JavaScript.
import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { describeCode } from '#cli/build/describe-code.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const FOLDER = join(DIST, 'package')

/** The files of the package, from those of the project: what its commands run, read, or name in their output. */
const FILES = [
  '{api,cli,core,fleet,pipeline,signals,static-build,storage}/**',
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

/** What a running program does not read of its dependencies: most of their files. Node takes the other half of what has `dist-es`. */
const UNREAD = /\.(?:map|[cm]?ts)$|(?:^|\/)(?:dist-es|docs|tests?|browser|\.claude)\/|^CHANGELOG\.md$/

/** The unit of `stat`, whatever the file system. */
const BLOCK_BYTES = 512

rmSync(DIST, { recursive: true, force: true }) // the image is made of the one package that is there
mkdirSync(FOLDER, { recursive: true })
copyFiles()
const needed = neededPackages()
for (const path of Object.keys(needed)) bundle(path)
writeFileSync(join(FOLDER, 'package.json'), toJson(await describePackage()))
writeFileSync(join(FOLDER, 'npm-shrinkwrap.json'), toJson(describeLock()))
const packed = await promisify(execFile)('npm', ['pack', FOLDER, '--silent', '--pack-destination', DIST])
const file = join(DIST, packed.stdout.trim())
console.log(
  `${relative(ROOT, file)}: ${toMegabytes(statSync(file).size)}, installed ${toMegabytes(spaceOf(FOLDER))}`,
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
    /(\b(?:from |import |import\(\s*|new URL\(\s*))'([^'\n]*)\.ts'/g,
    "$1'$2.js'",
  )
}

/**
 * The packages below the checkout without those of developers, without Node, and without what is optional: native code of one
 * platform. All are in the package, so every installation has the versions that were tested.
 */
function neededPackages(): Readonly<Record<string, Json>> {
  const { packages } = readJson(join(ROOT, 'package-lock.json'))
  const all = Object.entries(packages as Record<string, Json>)
  return Object.fromEntries(
    all.filter(
      ([path, { dev, devOptional, link, optional }]) =>
        path.startsWith('node_modules/') && ![dev, devOptional, link, optional].includes(true),
    ),
  )
}

/** Copies a package, without those below it, which have paths of their own. */
function bundle(path: string): void {
  const [from, to] = [join(ROOT, path), join(FOLDER, path)]
  const isRead = (file: string): boolean =>
    !UNREAD.test(file) && !file.split(sep).includes('node_modules') && statSync(join(from, file)).isFile()
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter(isRead)
  for (const file of files) cpSync(join(from, file), join(to, file))
  // npm would fetch what is optional at the next installation, in whatever version there is then.
  const { optionalDependencies: _, ...described } = readJson(join(from, 'package.json'))
  writeFileSync(join(to, 'package.json'), toJson(described))
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
    bundleDependencies: Object.keys(dependencies as Json),
  }
}

/** Which versions are inside: builds record its digest, and the members of a fleet compare it. */
function describeLock(): Json {
  const { packages, ...lock } = readJson(join(ROOT, 'package-lock.json'))
  const { '': project } = packages as Record<string, Json>
  const { name, version, license, dependencies, engines, bin } = project!
  const locked = Object.entries(needed).map(([path, { version, integrity }]) => [
    path,
    { version, integrity, inBundle: true },
  ])
  const own = { name, version, license, dependencies, engines, bin, bundleDependencies: true }
  return { ...lock, packages: { '': own, ...Object.fromEntries(locked) } }
}

type Json = Record<string, unknown>

function readJson(path: string): Json {
  return JSON.parse(readFileSync(path, 'utf8')) as Json // a file of npm
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** What a folder takes on disk, as `du` counts it. */
function spaceOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.reduce((sum, path) => sum + statSync(join(folder, path)).blocks * BLOCK_BYTES, 0)
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
