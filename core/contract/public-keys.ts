// `v1/keys.json`, served as `/.well-known/highwater-keys.json`: what signatures are verified with.
import { z } from 'zod'

export const publicKeys = z
  .object({
    keys: z
      .array(
        z.object({
          id: z.string().describe('The beginning of the SHA-256 of the DER form of the key.'),
          algorithm: z.literal('Ed25519').describe('How the key signs.'),
          public_key_pem: z.string().describe('SubjectPublicKeyInfo in PEM form, as openssl reads it.'),
        }),
      )
      .describe('The keys, each of them valid.'),
  })
  .meta({ id: 'PublicKeys' })

export type PublicKeys = z.infer<typeof publicKeys>
