import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TextFiles } from './new-folder.ts'

/** Where this project keeps what a module of a book may import. */
const REPLAY = join(import.meta.dirname, '../../core/replay')

/** A module in this project imports from here; in a book the same files lie beside it. */
export const inBook = (moduleText: string): string => moduleText.replaceAll('#core/replay/', './highwater/')

/**
 * What strategy modules stand on: the types, the reference strategies with their indicators, and two small files by
 * which Node and editors know how to read them. A book that has them needs nothing else installed.
 */
export async function moduleKit(): Promise<TextFiles> {
  const names = (await readdir(join(REPLAY, 'reference'))).sort()
  const sources = ['strategy.ts', ...names.map(name => `reference/${name}`)]
  const texts = sources.map(async source => [
    `strategies/highwater/${source}`,
    await readFile(join(REPLAY, source), 'utf8'),
  ])
  return {
    ...Object.fromEntries(await Promise.all(texts)),
    'package.json': PACKAGE,
    'tsconfig.json': TSCONFIG,
  }
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Without it Node has to guess that a `.ts` file is a module. */
const PACKAGE = toJson({ private: true, type: 'module' })

/** The settings under which Node runs a `.ts` file as it is. */
const TSCONFIG = toJson({
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ['strategies'],
})
