// The rules of imports: the direction between rooms, the order inside the core, and no cycles.
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
  api: ['core', 'storage', 'signals', 'pages'],
  cli: ['core', 'storage', 'pipeline', 'static-build', 'signals', 'api', 'pages'],
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
export function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith('#')) return specifier.slice(1)
  return specifier.startsWith('.') ? join(dirname(path), specifier) : null
}

const roomOf = (path: string): string => path.split('/')[0]!
const coreRoomOf = (path: string): string => path.split('/')[1]!

/** What relative paths may not leave: a room, and in the core each of its own. */
const homeOf = (path: string): string => (roomOf(path) === 'core' ? `core/${coreRoomOf(path)}` : roomOf(path))

/** The first ring of files that import one another, or null where there is none. */
export function importCycle(sources: readonly Source[]): readonly string[] | null {
  const imports = new Map(sources.map(({ path, text }) => [path, targetsOf(path, text)]))
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): readonly string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (finished.has(path)) return null
    for (const target of imports.get(path) ?? []) {
      const cycle = visit(target, [...trail, path])
      if (cycle !== null) return cycle
    }
    finished.add(path)
    return null
  }
  return firstOf(
    sources.map(({ path }) => path),
    path => visit(path, []),
  )
}

const targetsOf = (path: string, text: string): string[] =>
  specifiersOf(text).flatMap(specifier => targetOf(path, specifier) ?? [])

function firstOf<In, Out>(items: readonly In[], find: (item: In) => Out | null): Out | null {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}
