// `v1/keys.json`, served as `/.well-known/highwater-keys.json`: what signatures are verified with.
import { z } from 'zod'
import { list, named, text } from './payloads/field.ts'

export const publicKeys = named('PublicKeys', {
  keys: list(
    'The keys, each of them valid.',
    z.object({
      id: text('The beginning of the SHA-256 of the DER form of the key.'),
      algorithm: z.literal('Ed25519').describe('How the key signs.'),
      public_key_pem: text('SubjectPublicKeyInfo in PEM form, as openssl reads it.'),
    }),
  ),
})

export type PublicKeys = z.infer<typeof publicKeys>
