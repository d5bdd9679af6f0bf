import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { addOptions, flag } from '../options/option.ts'
import type { Runtime } from '../runtime.ts'
import { PRIVATE_MODE } from '../settings/generated-secrets.ts'

const EXAMPLE = `
Examples:
  highwater keys new /etc/highwater/signing.pem
  SIGNING_KEY_FILE=/etc/highwater/signing.pem highwater build --book ./book`

/** `highwater keys new FILE`: a key pair that signs manifests and pointer entries. */
export function defineKeys(command: Command, { cwd, terminal }: Runtime): void {
  const create = command
    .addHelpText('after', EXAMPLE)
    .command('new')
    .description('write a new Ed25519 private key, and print its public key')
    .argument('<file>', 'the file to create, for SIGNING_KEY_FILE')
    .addHelpText('after', EXAMPLE)
  addOptions(create, { json: flag('print the public key as one JSON document') }).action(
    async (file: string, { json = false }: { readonly json?: boolean }) => {
      const path = resolve(cwd, file)
      const pem = newPrivateKeyPem()
      await writeFile(path, pem, { flag: 'wx', mode: PRIVATE_MODE })
      const { keyId, publicKeyPem } = createSigner(pem)
      if (json) return terminal.json({ file: path, id: keyId, public_key_pem: publicKeyPem })
      terminal.print(`the private key ${keyId} is in ${path}: keep a copy, and keep it secret`)
      terminal.print(publicKeyPem.trimEnd())
    },
  )
}
