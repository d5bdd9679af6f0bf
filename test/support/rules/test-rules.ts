// The rules of test files: each title is a sentence that can be understood without the titles around it, and no run may
// fail by chance.
import type { Source } from './imports.ts'

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
const OWN_WAYS = /\b(mkdtemp|onTestFinished)\(|\bfc\.assert\(|\bafter(All|Each)\(.*\brm\(/

const PLACES = /^test\/support\/(ends|temporary-folder|for-all|runner\/run|http\/history-bytes)\.ts$/

/** The lines with which a test makes folders, ends what it starts, or draws random values in a way of its own. */
export const ownWays = ({ path, text }: Source): string[] =>
  text
    .split('\n')
    .flatMap((line, i) =>
      OWN_WAYS.test(line) && !PLACES.test(path) ? [`${path}:${i + 1}: ${line.trim()}`] : [],
    )
