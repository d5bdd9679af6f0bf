/**
 * `node test/mutations.ts [FILE]` changes one token of the product at a time, runs the tests that import the changed file, and
 * lists the changes that no test notices. The changes are the same in every run of the same sources. It works on copies of the checkout,
 * one for each core, and writes the outcomes to FILE as JSON, if it is named. 210 changes take about half an hour.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const COUNTS = { core: 70, pipeline: 50, signals: 55, 'static-build': 35 }
/** Of processor time: a change can make a loop endless, and a run that takes longer has noticed it. */
const MOST_SECONDS = 180

type Mutation = { readonly file: string; readonly at: number; readonly from: string; readonly to: string }
type Outcome = Mutation & { readonly line: number; readonly isKilled: boolean }

/** Tokens between spaces, which types do not have, and their replacements. */
const REPLACED: Readonly<Record<string, string>> = {
  ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '&&': '||', '||': '&&', '??': '&&', '+=': '-=', '-=': '+=' },
}
const OPERATOR = /(?<= )(?:[!=]==|<=?|>=?|\+=?|-=?|\*|\/|&&|\|\||\?\?)(?= )/g
const LITERAL = /(?<![\w.$'])(?:true|false|\d+)(?![\w.'])/g
const IGNORED =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/(?![ */])(?:\\.|\[[^\]\n]*\]|[^/\\\n])+\/\w*|^(?:import|export type|type|export interface|\} from)\b.*$|readonly .*$/gm

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** All changes of a file, in the order of their places. */
function mutationsOf(file: string): Mutation[] {
  const code = textOf(file).replaceAll(IGNORED, ignored => ignored.replaceAll(/[^\n]/g, '_'))
  const operators = [...code.matchAll(OPERATOR)].flatMap(({ 0: from, index: at }) =>
    REPLACED[from] === undefined ? [] : [{ file, at, from, to: REPLACED[from] }],
  )
  const literals = [...code.matchAll(LITERAL)].map(({ 0: from, index: at }) => {
    const to = from === 'true' ? 'false' : from === 'false' ? 'true' : String(Number(from) + 1)
    return { file, at, from, to }
  })
  return [...operators, ...literals].toSorted((a, b) => a.at - b.at)
}

/** So many of the changes of a folder, at equal distances. */
function chosenIn(folder: string, count: number): Mutation[] {
  const isSource = (file: string) =>
    file.startsWith(`${folder}/`) && file.endsWith('.ts') && !file.includes('/template/')
  const all = files.filter(isSource).flatMap(mutationsOf)
  return Array.from({ length: count }, (_, i) => all[Math.floor(((i + 0.5) * all.length) / count)]!)
}

/** Which files import a file. */
const importers = new Map<string, string[]>()
for (const file of files.filter(each => each.endsWith('.ts'))) {
  for (const [, path = ''] of textOf(file).matchAll(/(?:from|import\()\s*'([#.][^']+)'/g)) {
    const imported = path.startsWith('#') ? path.slice(1) : normalize(join(dirname(file), path))
    importers.set(imported, [...(importers.get(imported) ?? []), file])
  }
}

/** The tests that import a file, or if there are none, those that import a file that does, and so on. */
function testsOf(file: string): string[] {
  const seen = new Set([file])
  for (let level = [file]; level.length > 0; ) {
    level = level.flatMap(each => importers.get(each) ?? []).filter(each => !seen.has(each))
    for (const each of level) seen.add(each)
    const tests = level.filter(each => each.endsWith('.test.ts') && !each.startsWith('test/system/'))
    if (tests.length > 0) return [...new Set(tests)].toSorted()
  }
  return []
}

/** A copy of the checkout with its dependencies and servers. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'highwater-mutations-'))
  for (const file of files) cpSync(join(ROOT, file), join(copy, file))
  for (const name of ['node_modules', '.servers']) symlinkSync(join(ROOT, name), join(copy, name))
  return copy
}

/** Whether the tests of a copy fail. */
function isNoticed(copy: string, tests: readonly string[]): Promise<boolean> {
  const args = [
    'run',
    '--bail=1',
    '--maxWorkers=2',
    ...['fast', 'commands', 'redis'].map(name => `--project=${name}`),
  ]
  const program = join(ROOT, 'node_modules/.bin/vitest')
  const limited = ['-c', `ulimit -t ${MOST_SECONDS}; exec "$@"`, 'sh', program, ...args, ...tests]
  const env = { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}` }
  const child = spawn('sh', limited, { cwd: copy, stdio: 'ignore', env })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve(code !== 0))
  })
}

const mutations = Object.entries(COUNTS).flatMap(([folder, count]) => chosenIn(folder, count))
const outcomes: Outcome[] = []

/** Takes one change after the other until none is left. */
async function work(copy: string, left: Mutation[]): Promise<void> {
  for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
    const { file, at, from, to } = mutation
    const text = textOf(file)
    writeFileSync(join(copy, file), text.slice(0, at) + to + text.slice(at + from.length))
    const tests = testsOf(file)
    const isKilled = tests.length > 0 && (await isNoticed(copy, tests))
    writeFileSync(join(copy, file), text)
    const line = text.slice(0, at).split('\n').length
    outcomes.push({ ...mutation, line, isKilled })
    console.log(
      `${outcomes.length}/${mutations.length} ${isKilled ? 'noticed' : 'SURVIVED'} ${file}:${line} ${from} -> ${to}`,
    )
  }
}

const copies = Array.from({ length: availableParallelism() }, copyCheckout)
const left = [...mutations]
try {
  for (const copy of copies)
    if (await isNoticed(copy, testsOf('core/calendar.ts').slice(0, 1)))
      throw new Error('tests fail without a change')
  await Promise.all(copies.map(copy => work(copy, left)))
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
}
const [, , report] = process.argv
if (report !== undefined) writeFileSync(report, JSON.stringify(outcomes, null, 1))
console.log(
  `${outcomes.filter(({ isKilled }) => isKilled).length} of ${outcomes.length} changes were noticed`,
)
