import { sha256 } from '#storage/digest.ts'
import type { Signer } from '#storage/signature.ts'

/**
 * Keeps anybody from trying guesses at the digest of a private record. Nobody without the key can make this signature,
 * and it tells nothing of the key. No document begins like its text.
 */
export const saltOf = (signer: Signer, record: 'inputs' | 'program', version: string): string =>
  sha256(signer.sign(new TextEncoder().encode(`salt of the ${record} of ${version}`)))
