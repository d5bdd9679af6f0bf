import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** A fenced block: `sh` is pasted, and a `text` block after it is part of what it prints. */
type Block = { readonly language: string; readonly text: string }

/** The blocks of a page, without the indent of those in a list. */
export const blocksOf = (page: string): Block[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )

/** The texts of the blocks in one language. */
export const blocksIn = (page: string, language: string): string[] =>
  blocksOf(page).flatMap(block => (block.language === language ? [block.text] : []))

/** What is pasted, with the lines that it prints, named by its first line. */
export const pastedFrom = (page: string) =>
  blocksOf(page).flatMap(({ language, text }, index, blocks) => {
    const next = blocks[index + 1]
    return language === 'sh'
      ? [{ line: text.split('\n')[0], script: text, printed: next?.language === 'text' ? next.text : '' }]
      : []
  })

/** Those of `lines` that are not in `output` in their order; other lines may stand between them. */
export function missingIn(output: string, lines: readonly string[]): string[] {
  const left = lines.filter(line => line !== '')
  for (const line of output.split('\n')) if (line === left[0]) left.shift()
  return left
}
