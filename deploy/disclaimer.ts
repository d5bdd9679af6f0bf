import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** As much of a manifest as holds the disclaimer: `X-Disclaimer` of its CSV answers. */
const manifestHeaders = z.object({
  artifacts: z.array(z.object({ headers: z.record(z.string(), z.string()) })),
})

/**
 * The disclaimer that every version in the folder of a store carries; null where they differ or there is none, because
 * then nginx cannot know which of them goes with a file.
 */
export async function commonDisclaimer(store: string): Promise<string | null> {
  const found = new Set<string>()
  for await (const path of glob('v1/snapshots/*/manifest.json', { cwd: store })) {
    const { artifacts } = manifestHeaders.parse(JSON.parse(await readFile(join(store, path), 'utf8')))
    for (const { headers } of artifacts) found.add(headers['x-disclaimer'] ?? '')
  }
  found.delete('') // answers in JSON carry it in the envelope
  const [only] = found
  return found.size === 1 && only !== undefined ? only : null
}
