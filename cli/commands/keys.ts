import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import type { Runtime } from '../runtime.ts'

/** Only its owner may read a private key. */
const PRIVATE_MODE = 0o600

const GROUP_EXAMPLE = `
Example:
  highwater keys new /etc/highwater/signing.pem`

const EXAMPLES = `
Examples:
  highwater keys new /etc/highwater/signing.pem
  SIGNING_KEY_FILE=/etc/highwater/signing.pem highwater build --book ./book`

/** `highwater keys new FILE`: a key pair that signs manifests and pointer entries. */
export function defineKeys(command: Command, runtime: Runtime): void {
  command
    .addHelpText('after', GROUP_EXAMPLE)
    .command('new')
    .description('write a new Ed25519 private key, and print its public key')
    .argument('<file>', 'the file to create, for SIGNING_KEY_FILE')
    .option('--json', 'print the public key as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { json = false }: { readonly json?: boolean }) => {
      const path = resolve(runtime.cwd, file)
      const pem = newPrivateKeyPem()
      await writeFile(path, pem, { flag: 'wx', mode: PRIVATE_MODE })
      const { keyId, publicKeyPem } = createSigner(pem)
      const terminal = runtime.terminal
      if (json) terminal.json({ file: path, id: keyId, public_key_pem: publicKeyPem })
      else {
        terminal.print(`the private key ${keyId} is in ${path}: keep a copy, and keep it secret`)
        terminal.print(publicKeyPem.trimEnd())
      }
    })
}
