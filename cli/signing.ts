import { readFile } from 'node:fs/promises'
import { createSigner, type Signer } from '#storage/signature.ts'

/** The signer whose private key lies in the file that SIGNING_KEY_FILE names; null where none is named. */
export async function readSigner(env: NodeJS.ProcessEnv): Promise<Signer | null> {
  const path = env.SIGNING_KEY_FILE || null
  if (path === null) return null
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(
      `cannot read the signing key that SIGNING_KEY_FILE names, ${path}: make one with \`highwater keys new ${path}\``,
      { cause },
    )
  })
  return createSigner(pem)
}
