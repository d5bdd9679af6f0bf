// The scripts of the pages are committed: each is what the sources build, small, and free of what the policy of the pages refuses.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'rolldown'
import { expect, test } from 'vitest'
import configs, { PAGE_SCRIPTS } from '../../rolldown.config.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The page and its script together are loaded in one round trip or two. */
const MOST_BYTES = 30_000

test.each(PAGE_SCRIPTS.map((name, i) => ({ name, config: configs[i]! })))(
  'the script $name is what `make pages` builds from the sources, is small, compiles no code and names no other address',
  async ({ config }) => {
    const committed = await readFile(join(ROOT, config.output.file), 'utf8')
    const built = await build({ ...config, write: false })
    expect(built.output.map(({ type }) => type)).toEqual(['chunk'])
    expect(built.output[0].code).toBe(committed)
    expect(brotliCompressSync(committed).length).toBeLessThan(MOST_BYTES)
    const foreign = committed.replaceAll('http://www.w3.org/2000/svg', '')
    expect(foreign).not.toMatch(/\beval\b|\bFunction\(|\bWebAssembly\b|\bimport\(|https?:\/\//)
  },
)
