// The whole build of the tiny book, compared file by file with `test/golden/tiny`. The git diff of that folder is the
// review of every change on the wire. Where a change is meant, rewrite it: UPDATE_GOLDEN=1 vitest run golden
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { documentKey, manifestKey, privateKey, TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { CURRENT_KEY, pointerKey } from '#core/contract/pointer.ts'
import { sha256 } from '#storage/digest.ts'
import { createFileStore } from '#storage/file-store.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { TINY_VERSION } from '#test/support/books/publish-book.ts'
import { bytesOf, manifestOf } from '#test/support/stores/stored-bytes.ts'
import { writeFiles } from '#test/support/temporary-folder.ts'
import { describeDifferences, type Tree, textAt, treeOf } from './tree.ts'

const GOLDEN = join(import.meta.dirname, '../golden/tiny')
const MANIFEST = manifestKey(TINY_VERSION)

const { url, privateUrl } = inject('tinyStore')

let store: ObjectStore
let manifest: Manifest

beforeAll(async () => {
  store = await openStore(url)
  manifest = await manifestOf(store, TINY_VERSION)
})

/** Each holds digests of compressed bytes. */
const NOT_PORTABLE = new Set([CURRENT_KEY, pointerKey(1), documentKey(TINY_VERSION, 'SHA256SUMS')])

const isTwin = (key: string): boolean => Object.values(TWIN_ENDINGS).some(ending => key.endsWith(ending))

/** Binary formats are no texts to compare by line; their digests are in the manifest. */
const isBinary = (key: string): boolean => /\.(arrow|parquet|png)$/.test(key)

/** The manifest without what depends on the machine: the compressed bytes are those of the zlib that Node brings. */
function portable({ artifacts, documents, built_with: _code, ...rest }: Manifest): string {
  const { SHA256SUMS: _twinsToo, ...others } = documents
  const lines = artifacts.map(({ encodings: _twins, ...line }) => line)
  return `${JSON.stringify({ ...rest, documents: others, artifacts: lines }, null, 1)}\n`
}

/** What is published and is the same on every machine: no twins, and no pointer, which holds a digest of theirs. */
async function portableTree(): Promise<Tree> {
  const tree = await treeOf(store, key => !isTwin(key) && !isBinary(key) && !NOT_PORTABLE.has(key))
  return new Map([...tree, [MANIFEST, portable(manifest)]])
}

test('the published tiny book is exactly the golden tree: nothing is missing, unexpected or changed', async () => {
  const actual = await portableTree()
  if (process.env.UPDATE_GOLDEN === '1') {
    await rm(GOLDEN, { recursive: true, force: true })
    await writeFiles(GOLDEN, Object.fromEntries(actual))
  }
  expect(describeDifferences(await treeOf(createFileStore(GOLDEN)), actual)).toEqual([])
})

test('the published tiny book keeps its snapshot and its inputs in the private store alone, the snapshot with the digests of the manifest', async () => {
  const privateStore = await openStore(privateUrl)
  const files = Object.keys(manifest.snapshot)
  const expected = [...files, 'inputs.json'].map(file => privateKey(TINY_VERSION, file))
  expect(await privateStore.list('')).toEqual(expected.sort())
  for (const file of files) {
    const there = await bytesOf(privateStore, privateKey(TINY_VERSION, file))
    expect([file, sha256(there)]).toEqual([file, manifest.snapshot[file]])
  }
})

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
    const text = await textAt(store, decodeURI(path))
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
