// The rules of style that a program can check, as functions of a source file.
import type { Source } from './imports.ts'

/** Entry files: where time, chance and the environment come in. The launchers start before any of our code can. */
const ENTRY_FILES = /^(cli\/highwater\.ts|cli\/[\w-]+\.mjs|.*worker\.ts)$/

const LONGEST_FILE = 400

type Rule = {
  readonly name: string
  readonly isExempt: (path: string) => boolean
  readonly pattern: RegExp
}

/** Their snippets are texts for users, who have a console and an environment. */
const isGuide = (path: string): boolean => path.startsWith('pages/guides/')
const isNotCore = (path: string): boolean => !path.startsWith('core/')
const nothing = (): boolean => false

/** What must not stand in code. Comments are taken out first. */
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
    isExempt: path => ENTRY_FILES.test(path) || isGuide(path),
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
    isExempt: path => path.startsWith('cli/') || path === 'storage/tolerate.ts' || isGuide(path),
    pattern: /\bconsole\./,
  },
  { name: 'there are no default exports', isExempt: nothing, pattern: /^export default\b|\bas default\b/ },
  { name: 'there are no barrels', isExempt: nothing, pattern: /^export (type )?(\*|\{)/ },
  { name: 'there is no `any`', isExempt: nothing, pattern: /(?:[:<,|&=(]|\bas|=>)\s*any\b(?![\s\w]*['`"])/ },
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
export const withoutComments = (text: string): string =>
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
