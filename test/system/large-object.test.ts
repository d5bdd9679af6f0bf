// An object of more than 2 GiB, as the correlations of a book of 10 000 strategies are.
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256Aside } from '#storage/digest.ts'
import { createFileStore } from '#storage/file-store.ts'

const BYTES = 2 ** 31 + 12_345

test('is read whole, and has a digest', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-large-'))
  try {
    const file = await open(join(folder, 'large'), 'w')
    await file.write(Buffer.from('end'), 0, 3, BYTES - 3) // what was not written takes no room on the disk
    await file.close()
    const bytes = (await createFileStore(folder).read('large'))!
    expect(bytes.length).toBe(BYTES)
    expect(new TextDecoder().decode(bytes.subarray(-4))).toBe('\0end')
    expect(await sha256Aside(bytes)).toMatch(/^[0-9a-f]{64}$/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
