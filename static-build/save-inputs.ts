import { privateKey } from '#core/contract/artifacts.ts'
import { sha256 } from '#storage/digest.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { Signer } from '#storage/signature.ts'
import { writeOnce } from '#storage/write-once.ts'
import { saltOf } from './salt.ts'

/**
 * Writes the private record of what a version was made of: the same for every build of the same book. The digest that
 * is returned commits the operator to it in public: who is shown the record later can check that it was this one. The
 * salt in it keeps anybody from trying guesses; it follows from the signing key, so that a build that was killed makes
 * it again. Null without a key, for then there is no salt.
 */
export async function saveInputs(
  privateStore: ObjectStore,
  version: string,
  inputs: object,
  signer: Signer | null,
): Promise<string | null> {
  const salt = signer === null ? null : saltOf(signer, 'inputs', version)
  const bytes = toJsonBytes({ version, salt, ...inputs })
  await writeOnce(privateStore, privateKey(version, 'inputs.json'), bytes, {
    content_type: 'application/json',
  })
  return salt === null ? null : sha256(bytes)
}
