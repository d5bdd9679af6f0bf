// What the documents name is there: every endpoint has its row, and every file that is named in code type exists.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'

const ROOT = join(import.meta.dirname, '../..')
const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('the page of the history service has a row for every endpoint', () => {
  const page = readPage('docs/history-service.md')
  expect(ROUTES.filter(({ path }) => !page.includes(`\`${path}\``))).toEqual([])
})

test('the pages for subscribers have a row for every endpoint of the signals service', () => {
  const pages = readPage('docs/subscribing.md') + readPage('docs/program.md')
  const routes = SIGNALS_ROUTES.filter(({ path }) => path.startsWith('/v1/'))
  expect(routes.map(({ path }) => path).filter(path => !pages.includes(path))).toEqual([])
})

/** A path of the checkout in code type: a file, a folder, or a pattern with braces or a star. */
const NAMED =
  /`((?:core|storage|pipeline|static-build|signals|api|cli|deploy|bench|test|examples|clients)\/[\w./{},*-]*)`/g

test('every path of the checkout that a page names exists', () => {
  const pages = [
    'README.md',
    ...globSync('docs/**/*.md', { cwd: ROOT }),
    'examples/receivers/README.md',
    ...globSync('clients/*/README.md', { cwd: ROOT }),
  ].filter(
    page => page !== 'docs/limits.md', // names files below api/, and has a test of its own
  )
  const isThere = (path: string) => existsSync(join(ROOT, path)) || globSync(path, { cwd: ROOT }).length > 0
  const named = pages.flatMap(page =>
    [...readPage(page).matchAll(NAMED)].map(([, path = '']) => [page, path]),
  )
  expect(named.filter(([, path = '']) => !isThere(path))).toEqual([])
  expect(named.length).toBeGreaterThan(100)
})
