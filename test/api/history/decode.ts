import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { z } from 'zod'

const DECODERS = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
  identity: (bytes: Uint8Array) => bytes,
} as const

const coding = z.enum(['br', 'gzip', 'zstd', 'identity'])

/** The coding that an answer says it is in; throws where it is none that the service knows. */
export const codingOf = ({ headers }: Response) =>
  coding
    .exclude(['identity'])
    .optional()
    .parse(headers.get('content-encoding') ?? undefined) ?? 'identity'

/** The text of an answer as a client reads it, the coding undone. */
export async function decodedText(response: Response): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  return new TextDecoder('utf-8', { fatal: true }).decode(DECODERS[codingOf(response)](bytes))
}
