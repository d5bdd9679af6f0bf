// The rules of the code and of its tests that a program can check: imports and their directions, style, and titles.
import { dirname, join } from 'node:path/posix'

/** A source file: its path from the root of the project, and its text. */
export type Source = { readonly path: string; readonly text: string }

/** What each room may import beside itself. `cli` composes all of them. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  storage: ['core'],
  pipeline: ['core', 'storage'],
  pages: ['core'],
  'static-build': ['core', 'storage', 'pages'],
  signals: ['core', 'storage'],
  fleet: ['core', 'storage', 'pipeline', 'static-build', 'signals'],
  api: ['core', 'storage', 'signals', 'pages'],
  cli: ['core', 'storage', 'pipeline', 'static-build', 'signals', 'fleet', 'api', 'pages'],
}

/** The core from left to right: each may import what stands before it. */
const CORE_ORDER = [
  'calendar.ts',
  'progress.ts',
  'kernels',
  'figures',
  'replay',
  'program',
  'contract',
  'dataset',
]

/** Small pure libraries, all that the core knows of the world. */
const CORE_PACKAGES = ['zod', 'leven', 'simple-statistics', '@uwdata/flechette', 'hyparquet-writer']

/** The words of code that name another module: static, re-exported, for its effect, dynamic. */
const SPECIFIERS = [
  /^import\b[^'"]*?\bfrom '([^']+)'/gm,
  /^export\b[^'"=(]*?\bfrom '([^']+)'/gm,
  /^import '([^']+)'/gm,
  /\bimport\('([^']+)'\)/g,
]

export const specifiersOf = (text: string): string[] =>
  SPECIFIERS.flatMap(pattern => [...text.matchAll(pattern)].map(match => match[1]!))

/** What a file imports and must not, a sentence each. */
export const forbiddenImports = ({ path, text }: Source): string[] =>
  specifiersOf(text).flatMap(specifier => {
    const why = whyForbidden(path, specifier)
    return why === null ? [] : [`${path} imports '${specifier}': ${why}`]
  })

function whyForbidden(path: string, specifier: string): string | null {
  const target = targetOf(path, specifier)
  if (target === null) return whyForbiddenPackage(path, specifier)
  if (specifier.startsWith('.'))
    return leavesHome(path, target) ? 'a relative path that leaves its room' : null
  const from = roomOf(path)
  const to = roomOf(target)
  if (from !== to) return MAY_IMPORT[from]?.includes(to) ? null : `${from} may not import ${to}`
  if (from !== 'core') return 'inside a room paths are relative'
  return whyAgainstOrder(coreRoomOf(path), coreRoomOf(target))
}

const whyForbiddenPackage = (path: string, specifier: string): string | null =>
  roomOf(path) === 'core' && !CORE_PACKAGES.includes(specifier)
    ? `core imports nothing but itself and ${CORE_PACKAGES.join(', ')}`
    : null

function whyAgainstOrder(from: string, to: string): string | null {
  if (!CORE_ORDER.includes(to)) return `core/${to} has no place in the order of the core`
  return CORE_ORDER.indexOf(to) < CORE_ORDER.indexOf(from)
    ? null
    : `core/${to} does not stand before core/${from}`
}

/** The description of the package itself is outside every room. */
const leavesHome = (path: string, target: string): boolean =>
  target !== 'package.json' && homeOf(target) !== homeOf(path)

/** The path of an imported file, or null for a package. */
function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith('#')) return specifier.slice(1)
  return specifier.startsWith('.') ? join(dirname(path), specifier) : null
}

const roomOf = (path: string): string => path.split('/')[0]!
const coreRoomOf = (path: string): string => path.split('/')[1]!

/** What relative paths may not leave: a room, and in the core each of its own. */
const homeOf = (path: string): string => (roomOf(path) === 'core' ? `core/${coreRoomOf(path)}` : roomOf(path))

// The rules of style that a program can check, as functions of a source file.

/** Entry files: where time, chance and the environment come in. The launchers start before any of our code can. */
const ENTRY_FILES = /^(cli\/highwater\.ts|cli\/[\w-]+\.mjs|.*worker\.ts)$/

const LONGEST_FILE = 400

type Rule = {
  readonly name: string
  readonly isExempt: (path: string) => boolean
  readonly pattern: RegExp
}

const isNotCore = (path: string): boolean => !path.startsWith('core/')

/** What must not stand in code, beside what biome finds. Comments are taken out first. */
const RULES: readonly Rule[] = [
  {
    name: 'the clock is read in entry files only',
    isExempt: path => ENTRY_FILES.test(path),
    pattern:
      /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\)|\bperformance\.(now|timeOrigin)\b|\bhrtime\b|\bTemporal\.Now\b/,
  },
  {
    name: 'random numbers are drawn in entry files only',
    isExempt: path => ENTRY_FILES.test(path),
    pattern: /\bMath\.random\b|\brandom(UUID|Bytes|Int|FillSync|Fill)\b|\bgetRandomValues\b/,
  },
  {
    name: 'the environment is read in entry files only',
    isExempt: path => ENTRY_FILES.test(path),
    pattern:
      /\bprocess\.(env|argv|cwd|loadEnvFile)\b|\bprocess\[|\bimport\.meta\.env\b|\{[^}]*\} = process\b/,
  },
  {
    name: 'the core touches nothing of the machine',
    isExempt: isNotCore,
    pattern:
      /\bprocess\b\.|\bglobalThis\b|\bfetch\(|\bset(Timeout|Interval|Immediate)\b|\bimport\.meta\b|\bcrypto\./,
  },
  {
    name: 'only the command line and `tolerate` write to the console',
    isExempt: path => path.startsWith('cli/'),
    pattern: /\bconsole\.(?!error\(`tolerated )/,
  },
  { name: 'there are no barrels', isExempt: () => false, pattern: /^export (type )?(\*|\{)/ },
]

/** Which rules a file breaks, a sentence with the line each. */
export function brokenRules({ path, text }: Source): string[] {
  const lines = withoutComments(text).split('\n')
  const broken = RULES.filter(({ isExempt }) => !isExempt(path)).flatMap(({ name, pattern }) =>
    lines.flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${name}: ${line.trim()}`] : [])),
  )
  const length = lines.length - 1
  return length > LONGEST_FILE
    ? [...broken, `${path} has ${length} lines, ${LONGEST_FILE} are the most`]
    : broken
}

/** Blanks whole-line, block and trailing comments and keeps the line numbers. An address in a text is no comment. */
const withoutComments = (text: string): string =>
  text
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, comment => comment.replaceAll(/[^\n]/g, ''))
    .replaceAll(/(^|\s)\/\/ .*$/gm, '$1')

/** The exported functions of a file that no docstring stands above. */
export function undocumented({ text }: Source): string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, i) => {
    const found = /^export (?:async )?(?:function (\w+)|const (\w+).*? = (?:async )?[<(])/.exec(line)
    const name = found?.[1] ?? found?.[2]
    return name === undefined || lines[i - 1]?.endsWith('*/') ? [] : [name]
  })
}

// The rules of test files: each title is a sentence that can be understood without the titles around it, and no run may
// fail by chance.

/** What begins so continues another sentence. */
const CONTINUES =
  /^(unless|if|with|and|or|also|but|where|when it|that|whose|of|is|are|has|have|does|do|may|can|cannot|must)\b/i

const FEWEST_WORDS = 4

/** What stands for a value of a table or a loop. */
const PLACEHOLDERS = /%[#$\w]|\$\{[^}]*\}|\$[\w.]+/g

const WORDS = /[\p{L}\d][\p{L}\d'’.-]*/gu

/** The titles of a test file that no reader understands alone, a line each. */
export const unclearTitles = ({ path, text }: Source): string[] =>
  titlesOf(text)
    .filter(title => CONTINUES.test(title) || wordsOf(title) < FEWEST_WORDS)
    .map(title => `${path}: '${title}'`)

const wordsOf = (title: string): number => title.replaceAll(PLACEHOLDERS, ' ').match(WORDS)?.length ?? 0

/** Behind `test(`, behind `test.each(rows)(`, or behind the `)(` that closes rows of several lines. */
const TITLES =
  /^( *)(?<begin>test\b.*?|[\])}].*?\))\(\s*(?<quote>['"`])(?<title>(?:\\.|(?!\k<quote>)[^\\])*)\k<quote>,/gm

const titlesOf = (text: string): string[] =>
  [...text.matchAll(TITLES)].flatMap(({ 1: indent, groups, index }) => {
    const { begin = '', title = '' } = groups ?? {}
    return begin.startsWith('test') || isOfTest(text.slice(0, index), indent!) ? [title] : []
  })

/** Whether the rows that are closed are those of a test: they are as far in as what opened them. */
const isOfTest = (before: string, indent: string): boolean =>
  before.lastIndexOf(`\n${indent}test`) > before.lastIndexOf(`\n${indent}describe`)

/** What has one place in `test/support/`, so that no run fails by chance. */
const OWN_WAYS = /\b(mkdtemp\w*|(?<!\.)spawn|onTestFinished)\(|\bfc\.assert\(|\bafter(All|Each)\(.*\brm\(/

const PLACES =
  /^test\/(mutations|support\/(ends|processes|temporary-folder|for-all|runner\/run|http\/history-bytes|servers\/[\w-]+))\.ts$/

/** The lines with which a test makes folders, ends what it starts, or draws random values in a way of its own. */
export const ownWays = ({ path, text }: Source): string[] =>
  text
    .split('\n')
    .flatMap((line, i) =>
      OWN_WAYS.test(line) && !PLACES.test(path) ? [`${path}:${i + 1}: ${line.trim()}`] : [],
    )
