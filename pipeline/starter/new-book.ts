// What every new book needs: a folder that is empty, and the files that strategy modules import.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Texts by path, with forward slashes. */
export type TextFiles = Readonly<Record<string, string>>

/** Writes the files into a new or empty folder. Throws for any other, so that no book is overwritten. */
export async function writeNewFolder(dir: string, files: TextFiles): Promise<void> {
  await mkdir(dir, { recursive: true })
  const there = await readdir(dir)
  if (there.length > 0) {
    throw new Error(
      `expected an empty or new folder, got ${dir} with ${there[0]} in it${there.length > 1 ? ' and more' : ''}: ` +
        'name another folder, or empty this one first',
    )
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
}

/** What modules import, in this project. In a book both are in `strategies/highwater/`. */
const TYPES = join(import.meta.dirname, '../../core/replay/strategy.ts')
const INDICATORS = join(import.meta.dirname, 'template/strategies/highwater/indicators.ts')

/** The strategy modules of a template as files of a book: there they import from `./highwater/`. */
export async function templateModules(template: string): Promise<TextFiles> {
  const names = (await readdir(join(template, 'strategies'))).filter(name => name.endsWith('.ts')).sort()
  const texts = names.map(async name => [
    `strategies/${name}`,
    importFrom('./highwater', await readFile(join(template, 'strategies', name), 'utf8')),
  ])
  return Object.fromEntries(await Promise.all(texts))
}

/**
 * The types and the indicators that strategy modules import, and two small files by which Node and editors
 * read the modules. A book that has them needs nothing else installed.
 */
export const moduleKit = async (): Promise<TextFiles> => ({
  'strategies/highwater/strategy.ts': await readFile(TYPES, 'utf8'),
  'strategies/highwater/indicators.ts': importFrom('.', await readFile(INDICATORS, 'utf8')),
  'package.json': PACKAGE,
  'tsconfig.json': TSCONFIG,
})

const importFrom = (folder: string, text: string): string =>
  text.replaceAll(/'[^']*\/(strategy|indicators)\.ts'/g, `'${folder}/$1.ts'`)

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
