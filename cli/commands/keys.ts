import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { define, flag, group } from '../options/command.ts'
import { PRIVATE_MODE } from '../settings/generated-secrets.ts'

const EXAMPLES = `
Examples:
  highwater keys new /etc/highwater/signing.pem
  SIGNING_KEY_FILE=/etc/highwater/signing.pem highwater build --book ./book`

const defineNew = define(
  { json: flag('print the public key as one JSON document') },
  EXAMPLES,
  async ({ json }, { cwd, terminal }, file = '') => {
    const path = resolve(cwd, file)
    const pem = newPrivateKeyPem()
    await writeFile(path, pem, { flag: 'wx', mode: PRIVATE_MODE })
    const { keyId, publicKeyPem } = createSigner(pem)
    terminal.result(json, { file: path, id: keyId, public_key_pem: publicKeyPem }, [
      `the private key ${keyId} is in ${path}: keep a copy, and keep it secret`,
      publicKeyPem.trimEnd(),
    ])
  },
  { '<file>': 'the file to create, for SIGNING_KEY_FILE or SEAL_KEY_FILE' },
)

export const defineKeys = group(EXAMPLES, {
  new: ['write a new Ed25519 private key, and print its public key', defineNew],
})
