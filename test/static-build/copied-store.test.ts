// A copy of a published store under a server that knows nothing but files.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'

const root = () => fileURLToPath(inject('tinyStore').url)

const fileAt = (path: string): Promise<string> => readFile(join(root(), decodeURI(path)), 'utf8')

/** What a page leads to or loads, but for other sites. A link to `/docs` would be a file at the root of the copy. */
const linksIn = (page: string, path: string): string[] =>
  [...page.matchAll(/ (?:href|src|action|content="0; url)="?([^"#]+)/g)]
    .map(([, link]) => new URL(link!, `http://copy/${path}`))
    .flatMap(({ host, pathname }) => (host === 'copy' ? [pathname.slice(1)] : []))

test('the first page of a copied store leads to the book, and every link from there on is a file', async () => {
  const seen = new Set<string>()
  const visit = async (path: string): Promise<void> => {
    if (seen.has(path)) return
    seen.add(path)
    const text = await fileAt(path)
    if (path.endsWith('.html')) for (const link of linksIn(text, path)) await visit(link)
  }
  await visit('index.html')
  const book = 'v1/snapshots/20250224T001500Z'
  for (const file of [
    'index.html',
    'strategies/ash/sheet.html',
    'assets/page.js',
    'versions.html',
    'check.html',
    'strategies/ash/curve.csv',
  ])
    expect(seen).toContain(`${book}/${file}`)
})
