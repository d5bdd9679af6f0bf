// What the documents point to is there: every relative link, with its heading.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'examples/receivers/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
  ...globSync('clients/*/README.md', { cwd: ROOT }),
]

/** The text without code: what a fence or backticks show is no link. */
const proseOf = (path: string): string =>
  readFileSync(path, 'utf8')
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, '')

/** Links that stay in the checkout: no address, no mail. */
const linksIn = (path: string): string[] =>
  [...proseOf(path).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, target = '']) => target)

/** Headings as they are linked to: small letters, hyphens for spaces, no other punctuation. */
const anchorsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const faultOf = (document: string, target: string): string | null => {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? document : join(dirname(document), file)
  if (!existsSync(path)) return `${target}: there is no ${relative(ROOT, path)}`
  if (anchor === undefined || anchorsIn(path).includes(anchor)) return null
  return `${target}: ${relative(ROOT, path)} has no heading of this name`
}

test('every relative link of every document leads to a file, and to a heading in it if it names one', () => {
  const faults = DOCUMENTS.flatMap(name => {
    const document = join(ROOT, name)
    return linksIn(document).flatMap(target => {
      const fault = faultOf(document, target)
      return fault === null ? [] : `${name}: ${fault}`
    })
  })
  expect(faults).toEqual([])
  expect(DOCUMENTS.flatMap(name => linksIn(join(ROOT, name))).length).toBeGreaterThan(30)
})
